import {
  mountWords,
  packageRegistries,
  pluralText,
  type ApprovalMode,
  type Budgets,
  type EgressPolicy,
  type EventArgs,
  type SessionSettings,
} from '@belay/protocol';

/** Explains a session’s initial settings to its model; later changes are appended to the prompt. */
export function describeSettings(settings: SessionSettings): string {
  const { approvals, egress, budgets, planFile, mounts } = settings;
  const plan =
    planFile !== null &&
    `Plan: plan.update keeps it in ${planFile} of the workspace, which the user may edit, too.`;
  const shared =
    mounts.length > 0 &&
    `Folders of the user’s own machine: ${mounts.map(mountWords).join('; ')}. Commands reach them, file operations do not. A change there is at once one of the user’s own files, is in no history and cannot be undone: make only those that the task asks for.`;
  return [
    describeApprovals(approvals),
    describeHosts(egress),
    describeBudgets(budgets),
    plan,
    shared,
  ]
    .filter(Boolean)
    .join('\n');
}

/** A text about changed settings for the end of the prompt; null if it does not concern the model. */
export function describeChange({ approvals, budgets, egress }: EventArgs<'change'>): string | null {
  const changed = [
    approvals && describeApprovals(approvals),
    egress?.profile && describeNetwork(egress.profile),
    budgets && describeBudgets(budgets),
  ];
  const known = changed.filter((line) => line !== undefined);
  return known.length === 0 ? null : `The user changed settings.\n${known.join('\n')}`;
}

const approvalTexts: Record<ApprovalMode, string> = {
  plan: 'plan. Until the user approves a plan, every call that changes, runs or fetches something is refused: read what you need, write the plan with plan.update, then use ask to have it approved. Once it is, you are told that this setting changed',
  safe: 'safe. Every call waits for the user’s yes, reads and edits too: make few and complete ones',
  ask: 'ask. Commands and network calls wait for the user’s yes, and so does a host that is not open: prefer one complete command to many small ones. Reads and edits run at once',
  delay:
    'delay. Commands and network calls run after two seconds unless the user stops them; a host that is not open waits for the user’s yes',
  rules:
    'rules. Commands and network calls that a rule of the user allows run; all others are refused without a question, and so is a host that is not open: the user is not there, so go on in another way. Reads and edits run at once',
  auto: 'auto. Everything runs at once; a host that is not open is refused without a question',
};

const describeApprovals = (mode: ApprovalMode): string => `Approvals: ${approvalTexts[mode]}.`;

/** The number of listed hosts; further ones are only counted. */
const mostHosts = 20;

const describeHosts = (policy: EgressPolicy): string =>
  `Open hosts: ${openHosts(policy)}. Tools may name the sandbox’s own proxy as 127.0.0.1.`;

function openHosts({ profile, hosts }: EgressPolicy): string {
  if (profile === 'none') return 'none';
  if (profile === 'open') return 'all';
  const registries = profile === 'packages' ? [packageRegistries] : [];
  const more = hosts.length > mostHosts ? [`${hosts.length - mostHosts} more`] : [];
  const named = hosts.slice(0, mostHosts).map((host) => host.slice(0, 253));
  return [...registries, ...named, ...more].join(', ') || 'none';
}

const networkTexts: Record<EgressPolicy['profile'], string> = {
  none: 'no host can be reached any longer',
  packages: `${packageRegistries} and the named hosts are open`,
  list: 'only the named hosts are open',
  open: 'all hosts are open',
};

const describeNetwork = (profile: EgressPolicy['profile']): string =>
  `Network: ${networkTexts[profile]}.`;

function describeBudgets({ steps, dollars, tokens, seconds }: Budgets): string {
  const limits = [
    steps !== null && `${steps} steps (each reply of yours is one)`,
    dollars !== null && `$${dollars}`,
    tokens !== null && `${pluralText(tokens, 'token')} of prompts and replies together`,
    seconds !== null && promptDuration(seconds),
  ].filter((limit) => limit !== false);
  if (limits.length === 0) return 'Budgets: none.';
  return `Budgets: ${limits.join(', ')}. What one of them cuts off is unfinished; you are told when little is left.`;
}

export function promptDuration(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} seconds` : `${Math.round(seconds / 60)} minutes`;
}
