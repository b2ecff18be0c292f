import { z } from 'zod';
import { activity, noActivity } from './activity.js';
import { approvalMode, approvalRequest } from './approvals.js';
import { checkCommand, sessionCheck } from './check.js';
import { clonedRepository, newRepository } from './git.js';
import { machineName, sessionMachine } from './machines.js';
import { actionName, sessionAction } from './actions.js';
import { mcpServerName, mcpTool } from './mcp.js';
import { isHostEntry } from './host-entry.js';
import { mostMounts, newMount, sessionMount } from './host-folders.js';
import { hostSetIn, hostSetNames } from './host-sets.js';
import { blobId, modelName } from './models.js';

export const sessionState = z.enum([
  'starting',
  'running',
  'waiting',
  'paused',
  'finished',
  'failed',
  'limited',
  'stopped',
]);
export type SessionState = z.infer<typeof sessionState>;

/** A session in one of these does nothing more until it is restarted or spoken to. */
export const endedStates: readonly SessionState[] = ['finished', 'failed', 'limited', 'stopped'];

export const isEnded = (state: SessionState): boolean => endedStates.includes(state);

const limits = {
  steps: z
    .int()
    .positive()
    .nullable()
    .describe('Calls of a model, except those that shorten the conversation.'),
  tokens: z.int().positive().nullable().describe('Prompt and reply together.'),
  dollars: z.number().positive().nullable(),
  seconds: z.number().positive().nullable().describe('Wall time since the start.'),
};

/** Hard limits, checked before each call of a model; null means no limit. */
export const budgets = z.object({
  steps: limits.steps.default(100),
  tokens: limits.tokens.default(null),
  dollars: limits.dollars.default(null),
  seconds: limits.seconds.default(null),
});
export type Budgets = z.infer<typeof budgets>;

export const networkProfile = z.enum(['none', 'packages', 'list', 'open']);
export type NetworkProfile = z.infer<typeof networkProfile>;

/** The network profiles in words: as a choice, and where there is little space. */
export const networkProfiles: Readonly<Record<NetworkProfile, { label: string; short: string }>> = {
  none: { label: 'No network', short: 'No network' },
  packages: { label: 'Package registries', short: 'Registries' },
  list: { label: 'Only the allowed hosts', short: 'Allowed hosts' },
  open: { label: 'Everything', short: 'Open network' },
};

const way = {
  profile: networkProfile.describe(
    '`packages`: the registries of the common ecosystems; `list`: only `hosts`.',
  ),
  hosts: z
    .array(
      z
        .string()
        .refine(
          (entry) => !/^\s*read-only:.*:443\s*$/i.test(entry),
          'port 443 is TLS, which cannot be restricted to reading: leave out read-only, or name another port',
        )
        .refine(
          (entry) => !entry.trim().startsWith('@') || hostSetIn(entry) !== undefined,
          `unknown set of hosts; the known sets are ${hostSetNames.map((name) => `@${name}`).join(', ')}`,
        ),
    )
    .describe(
      'More hosts: name, name:port, *.name or a set such as @npm. All but sets may begin with `read-only:`, for plain HTTP without uploads. They apply in every profile except `none`.',
    ),
};

/** Which hosts a sandbox may reach through the server’s proxy. */
export const egressPolicy = z.object({
  profile: way.profile.default('packages'),
  hosts: way.hosts.default([]),
});
export type EgressPolicy = z.infer<typeof egressPolicy>;

/** What the user may set for all sessions to come; a session’s own values count before these. */
export const sessionDefaults = z.object({
  budgets: budgets.prefault({}),
  egress: egressPolicy.prefault({}),
  approvals: approvalMode.default('ask'),
});
export type SessionDefaults = z.infer<typeof sessionDefaults>;

/** As users write them. What was stored before this check is still read. */
const checkedHosts = z.array(
  way.hosts.element.refine(isHostEntry, {
    error: ({ input }) =>
      `“${String(input).slice(0, 100)}” is not a host: write name, name:port, *.name or a set such as @npm`,
  }),
);

/** Some of them; what is left out stays as it is. */
export const sessionDefaultsChange = z
  .object({
    budgets: z.object(limits).partial(),
    egress: z.object({ ...way, hosts: checkedHosts }).partial(),
    approvals: approvalMode,
  })
  .partial();
export type SessionDefaultsChange = z.infer<typeof sessionDefaultsChange>;

export function changedDefaults(
  { budgets, egress, approvals }: SessionDefaults,
  change: SessionDefaultsChange,
): SessionDefaults {
  return {
    budgets: { ...budgets, ...change.budgets },
    egress: { ...egress, ...change.egress },
    approvals: change.approvals ?? approvals,
  };
}

/** The rights of a sandbox’s programs; docs/sandboxes.md lists what each profile allows. */
export const sandboxProfile = z
  .enum(['hardened', 'root'])
  .default('hardened')
  .describe(
    '`hardened`: an ordinary user on a read-only system; `root`: may install system packages.',
  );
export type SandboxProfile = z.output<typeof sandboxProfile>;

const title = z.string().max(200);
const tags = z.array(z.string().min(1).max(40)).max(20);

const identityPart = z
  .string()
  .trim()
  .min(1)
  .max(200)
  // oxlint-disable-next-line no-control-regex
  .regex(/^[^\u0000-\u001f\u007f-\u009f<>]*$/, 'no control characters, < or >');

/** Who commits. */
export const gitIdentity = z.object({ name: identityPart, email: identityPart });
export type GitIdentity = z.infer<typeof gitIdentity>;

/** A Markdown file of the workspace, by plain names. */
export const planFile = z
  .string()
  .max(200)
  .regex(
    /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))(?!(?:.*\/)?\.git\/)(?:[\w. -]+\/)*[\w. -]+\.(?:md|markdown)$/i,
    'a Markdown file in the workspace, such as DevinPlan.md',
  );
/** The name that OpenDevin gave it. */
export const usualPlanFile = 'DevinPlan.md';

/** What the user may change of a session at any time; what is left out stays as it is. */
export const sessionChange = z
  .object({
    title,
    tags,
    archived: z.boolean(),
    approvals: approvalMode,
    budgets,
    model: modelName.describe('From its next step on.'),
    egress: z.object({ ...way, hosts: checkedHosts }).partial(),
  })
  .partial();

/** The workspace of a session whose files are sent right after it was made, straight into its sandbox. */
export const sentWorkspace = 'upload';

/** The workspace of a session that begins with a clone of its `repository`. */
export const clonedWorkspace = 'git';

/** What an agent must know to work on a session; the first event of the log carries it. */
export const sessionSettings = z.object({
  task: z
    .string()
    .min(1)
    .max(200_000, 'at most 200,000 characters; put the rest into a file of the workspace'),
  model: modelName,
  image: z.string().nullable().default(null).describe('A Docker image; null is the default one.'),
  sandbox: sandboxProfile,
  machine: sessionMachine
    .nullable()
    .default(null)
    .describe('The joined machine that the agent runs on; null is a sandbox of the server.'),
  workspace: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'An uploaded workspace’s id, `example:NAME`, or `upload` for one that is sent to the session right after; null is an empty folder.',
    ),
  repository: clonedRepository
    .optional()
    .describe('What the workspace was cloned from, by the server.'),
  title: title.optional(),
  ...sessionDefaults.shape,
  trust: z
    .boolean()
    .default(false)
    .describe('Trust AGENTS.md and skills of the workspace from the start.'),
  images: z.array(blobId).max(100).default([]).describe('Pictures that belong to the task.'),
  planFile: planFile
    .nullable()
    .default(null)
    .describe(
      'The file of the workspace that keeps the plan, such as DevinPlan.md; null for none.',
    ),
  gitIdentity: gitIdentity
    .nullable()
    .default(null)
    .describe('Who commits in the workspace; null is the agent. `belay run` sends the user’s own.'),
  tags: tags.default([]),
  check: checkCommand
    .nullable()
    .default(null)
    .describe(
      'A shell command that the server runs in the sandbox when the session has ended, such as `npm test`; its exit code is shown.',
    ),
  mcp: z.array(mcpTool).default([]).describe('Tools of MCP servers, as they were at its start.'),
  actions: z
    .array(sessionAction)
    .default([])
    .describe('Installed actions, as they were at its start.'),
  mounts: z
    .array(sessionMount)
    .default([])
    .describe('Folders of the host that the sandbox is given.'),
});
export type SessionSettings = z.infer<typeof sessionSettings>;
export type SessionSettingsInput = z.input<typeof sessionSettings>;

/** What a session is made with: what is left out comes from the server’s settings. */
export const newSession = sessionSettings.extend({
  ...sessionDefaultsChange.shape,
  repository: newRepository
    .optional()
    .describe('A repository that the server clones into the workspace.'),
  machine: machineName
    .nullable()
    .default(null)
    .describe('The name of a joined machine; null is a sandbox of the server.'),
  mcp: z
    .array(mcpServerName)
    .optional()
    .describe('MCP servers by name; all that are enabled when omitted.'),
  actions: z
    .array(actionName)
    .optional()
    .describe('Installed actions by name; all that are enabled when omitted.'),
  mounts: z
    .array(newMount)
    .max(mostMounts)
    .default([])
    .describe('Folders of the server’s machine to share with the sandbox; needs the scope admin.'),
});
export type NewSession = z.input<typeof newSession>;

const timeSpent = z
  .object({
    seconds: z.number().nonnegative(),
    since: z.iso.datetime({ offset: true }).nullable(),
  })
  .default({ seconds: 0, since: null });

/** A session in one line: what the fleet shows. Folded from the log. */
export const sessionSummary = z.object({
  id: z.string(),
  title: z.string(),
  task: z.string(),
  model: z.string(),
  image: z.string().nullable(),
  sandbox: sandboxProfile,
  machine: sessionMachine.nullable().default(null),
  mounts: z.array(sessionMount).default([]),
  state: sessionState,
  reason: z.string().nullable().describe('Why it is in this state, for the user.'),
  created: z.iso.datetime({ offset: true }),
  updated: z.iso.datetime({ offset: true }),
  lastSeq: z.int().nonnegative(),
  steps: z.int().nonnegative(),
  compactions: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Calls of the model for a summary of the conversation, which are not steps.'),
  tokens: z.int().nonnegative(),
  dollars: z.number().nonnegative(),
  contextTokens: z.int().nonnegative().describe('Tokens of the last prompt.'),
  contextWindow: z.int().positive().nullable(),
  budgets,
  approvals: approvalMode,
  network: way.profile
    .nullable()
    .default(null)
    .describe('The profile of its network; null when an older version stored the session.'),
  current: z
    .string()
    .nullable()
    .describe('What it is doing right now, such as `terminal.run npm test`.'),
  waitingFor: z.array(approvalRequest).describe('Questions that wait for the user.'),
  question: z.string().nullable().describe('The question of `ask`, while it waits.'),
  options: z.array(z.string()).default([]).describe('The answers that this question offers.'),
  plan: z.object({ steps: z.int(), done: z.int() }).nullable(),
  forkedFrom: z.object({ session: z.string(), seq: z.int() }).nullable(),
  tags: z.array(z.string()),
  archived: z.boolean(),
  comparison: z.string().nullable().default(null).describe('The comparison that it is part of.'),
  check: sessionCheck
    .nullable()
    .default(null)
    .describe('Its check command, `waiting` for the end of the session; null without one.'),
  activity: activity.default(noActivity),
  wallTime: timeSpent.describe('How long it has run; since `since` it runs on.'),
  workTime: timeSpent.describe(
    'As `wallTime`, without pauses and the time it waited for the user.',
  ),
});
export type SessionSummary = z.infer<typeof sessionSummary>;

export const newMessage = z.object({
  text: z.string().min(1).max(200_000),
  delivery: z
    .enum(['queue', 'steer'])
    .default('queue')
    .describe(
      '`queue`: at the end of the turn; `steer`: at once; waits end, and calls that have not begun are not run.',
    ),
  pinned: z.boolean().default(false).describe('Kept word for word when the context is shortened.'),
  images: z.array(blobId).max(100).default([]),
  review: z
    .boolean()
    .default(false)
    .describe('A comment on what the agent changed. It answers no question.'),
});
export type NewMessage = z.infer<typeof newMessage>;

/** What the user may change of a message that is queued. */
export const messageEdit = newMessage.pick({ text: true });
