import { z } from 'zod';
import { activity, noActivity } from './activity.js';
import { chosenAgentOptions, attentionReason, newSessionAgent, sessionAgent } from './agents.js';
import { approvalMode, approvalRequest } from './approvals.js';
import { budgetLimits, budgets } from './budgets.js';
import { checkCommand, sessionCheck } from './check.js';
import { clonedRepository, newRepository, sessionPublication } from './git.js';
import { gitIdentity } from './git-identity.js';
import { machineName, placeLabels, sessionMachine } from './machines.js';
import { actionName, sessionAction } from './actions.js';
import { mcpServerName, mcpTool } from './mcp.js';
import { isHostEntry } from './host-entry.js';
import { mostMounts, newMount, sessionMount } from './host-folders.js';
import { hostSetIn, hostSetNames } from './host-sets.js';
import { newImage } from './image-reference.js';
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

/** The final states: such a session does nothing until it is restarted or gets a message. */
export const endedStates: readonly SessionState[] = ['finished', 'failed', 'limited', 'stopped'];

export const isEnded = (state: SessionState): boolean => endedStates.includes(state);

export const networkProfile = z.enum(['none', 'packages', 'list', 'open']);
export type NetworkProfile = z.infer<typeof networkProfile>;

/** The labels of the network profiles: for a list of choices, and for small spaces. */
export const networkProfiles: Readonly<Record<NetworkProfile, { label: string; short: string }>> = {
  none: { label: 'No network', short: 'No network' },
  packages: { label: 'Package registries', short: 'Registries' },
  list: { label: 'Only the allowed hosts', short: 'Allowed hosts' },
  open: { label: 'Everything', short: 'Open network' },
};

const way = {
  profile: networkProfile.describe(
    '`packages`: the registries of common package managers, and `hosts`; `list`: only `hosts`.',
  ),
  hosts: z
    .array(
      z
        .string()
        .refine(
          (entry) => !/^\s*read-only:.*:443\s*$/i.test(entry),
          'port 443 uses TLS, which cannot be restricted to reading: remove read-only, or use another port',
        )
        .refine(
          (entry) => !entry.trim().startsWith('@') || hostSetIn(entry) !== undefined,
          `unknown set of hosts; use one of ${hostSetNames.map((name) => `@${name}`).join(', ')}`,
        ),
    )
    .describe(
      'More hosts: name, name:port, *.name or a set such as @npm. All except sets may have the prefix `read-only:`, which allows only plain HTTP without uploads. They apply in every profile except `none`.',
    ),
};

/** Which hosts a sandbox may reach through the server’s proxy. */
export const egressPolicy = z.object({
  profile: way.profile.default('packages'),
  hosts: way.hosts.default([]),
});
export type EgressPolicy = z.infer<typeof egressPolicy>;

/** Settings for all future sessions; a session’s own values take precedence. */
export const sessionDefaults = z.object({
  budgets: budgets.prefault({}),
  egress: egressPolicy.prefault({}),
  approvals: approvalMode.default('ask'),
});
export type SessionDefaults = z.infer<typeof sessionDefaults>;

/** Hosts as users write them. Stored hosts that do not pass this check can still be read. */
const checkedHosts = z.array(
  way.hosts.element.refine(isHostEntry, {
    error: ({ input }) =>
      `“${String(input).slice(0, 100)}” is not a host: use name, name:port, *.name or a set such as @npm`,
  }),
);

/** A change of some of them; omitted fields stay as they are. */
export const sessionDefaultsChange = z
  .object({
    budgets: z.object(budgetLimits).partial(),
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

/** The path of a Markdown file in the workspace, without `.`, `..` or special characters. */
export const planFile = z
  .string()
  .max(200)
  .regex(
    /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))(?!(?:.*\/)?\.git\/)(?:[\w. -]+\/)*[\w. -]+\.(?:md|markdown)$/i,
    'a Markdown file in the workspace, such as DevinPlan.md',
  );
/** The name that OpenDevin gave it. */
export const usualPlanFile = 'DevinPlan.md';

/** The settings of a session that the user may change at any time; omitted fields stay as they are. */
export const sessionChange = z
  .object({
    title,
    tags,
    archived: z.boolean(),
    approvals: approvalMode,
    budgets,
    model: modelName.describe('Used from the next step on.'),
    agentOptions: chosenAgentOptions,
    egress: z.object({ ...way, hosts: checkedHosts }).partial(),
  })
  .partial();

/** The workspace of a session whose files are sent directly into its sandbox, right after it was created. */
export const sentWorkspace = 'upload';

/** The workspace of a session that starts with a clone of its `repository`. */
export const clonedWorkspace = 'git';

/** The settings that an agent needs to work on a session; the first event of the log contains them. */
export const sessionSettings = z.object({
  task: z
    .string()
    .min(1)
    .max(200_000, 'at most 200,000 characters; put the rest into a file of the workspace'),
  model: modelName,
  agent: sessionAgent.optional().describe('Omitted for Belay’s own agent.'),
  image: z.string().nullable().default(null).describe('A Docker image; null for the default.'),
  sandbox: sandboxProfile,
  machine: sessionMachine
    .nullable()
    .default(null)
    .describe('The joined machine it runs on; null for a sandbox of the server.'),
  labels: placeLabels
    .default({})
    .describe(
      'The labels that the place of its sandbox must have, such as `gpu`; every place has `place`: `server` or `machine`.',
    ),
  workspace: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'The id of an uploaded workspace, `example:NAME`, or `upload` for one that is sent right after the session is created; null for an empty folder.',
    ),
  repository: clonedRepository
    .optional()
    .describe('The repository that the workspace was cloned from.'),
  title: title.optional(),
  ...sessionDefaults.shape,
  trust: z
    .boolean()
    .default(false)
    .describe('Trust AGENTS.md files and skills of the workspace from the start.'),
  images: z.array(blobId).max(100).default([]).describe('Pictures for the task.'),
  planFile: planFile
    .nullable()
    .default(null)
    .describe('The workspace file with the plan, such as DevinPlan.md; null for none.'),
  gitIdentity: gitIdentity
    .nullable()
    .default(null)
    .describe(
      'The author of commits in the workspace; null for the agent. `belay run` sends the user’s own identity.',
    ),
  tags: tags.default([]),
  check: checkCommand
    .nullable()
    .default(null)
    .describe(
      'A shell command that the server runs in the sandbox after the session ends, such as `npm test`; its exit code is shown.',
    ),
  mcp: z.array(mcpTool).default([]).describe('Tools of MCP servers, as they were at the start.'),
  actions: z
    .array(sessionAction)
    .default([])
    .describe('Installed actions, as they were at the start.'),
  mounts: z
    .array(sessionMount)
    .default([])
    .describe('Host folders that are mounted into the sandbox.'),
  modelForPrograms: z
    .boolean()
    .default(false)
    .describe(
      'Programs in the sandbox may call the session’s model, within its budgets: OPENAI_BASE_URL, ANTHROPIC_BASE_URL and GOOGLE_GEMINI_BASE_URL are set in terminals.',
    ),
  report: z.boolean().default(false).describe('Offer the operation `report`.'),
});
export type SessionSettings = z.infer<typeof sessionSettings>;
export type SessionSettingsInput = z.input<typeof sessionSettings>;

/** The settings of a new session: omitted ones are those of the server. */
export const newSession = sessionSettings.extend({
  ...sessionDefaultsChange.shape,
  agent: newSessionAgent.optional().describe('The agent; Belay’s own if omitted.'),
  repository: newRepository
    .optional()
    .describe('A repository for the server to clone into the workspace.'),
  machine: machineName
    .nullable()
    .default(null)
    .describe(
      'A joined machine; null for the least loaded place with containers, the server’s own sandboxes among them. A bare machine needs `admin`.',
    ),
  image: newImage,
  sandbox: sandboxProfile
    .unwrap()
    .optional()
    .describe('`hardened` or `root`; if omitted, that of the token, or else `hardened`.'),
  mcp: z
    .array(mcpServerName)
    .optional()
    .describe('MCP servers by name; all enabled ones if omitted.'),
  actions: z
    .array(actionName)
    .optional()
    .describe('Installed actions by name; all enabled ones if omitted.'),
  mounts: z
    .array(newMount)
    .max(mostMounts)
    .default([])
    .describe('Folders of the server’s machine to share; needs the scope `admin`.'),
});
export type NewSession = z.input<typeof newSession>;

const timeSpent = z
  .object({
    seconds: z.number().nonnegative(),
    since: z.iso.datetime({ offset: true }).nullable(),
  })
  .default({ seconds: 0, since: null });

/** A session in one line, for the fleet; derived from the log. */
export const sessionSummary = z.object({
  id: z.string(),
  title: z.string(),
  task: z.string(),
  model: z.string(),
  agent: sessionAgent.nullable().default(null).describe('Null for Belay’s own agent.'),
  image: z.string().nullable(),
  sandbox: sandboxProfile,
  machine: sessionMachine.nullable().default(null),
  mounts: z.array(sessionMount).default([]),
  state: sessionState,
  reason: z.string().nullable().describe('Why the session is in this state, for the user.'),
  created: z.iso.datetime({ offset: true }),
  updated: z.iso.datetime({ offset: true }),
  lastSeq: z.int().nonnegative(),
  steps: z.int().nonnegative(),
  compactions: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Model calls for summaries, and those without tools, which are not steps.'),
  tokens: z.int().nonnegative(),
  dollars: z.number().nonnegative(),
  openRequests: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Model requests of programs in the sandbox that are under way.'),
  contextTokens: z.int().nonnegative().describe('The number of tokens in the last prompt.'),
  contextWindow: z.int().positive().nullable(),
  budgets,
  approvals: approvalMode,
  network: way.profile
    .nullable()
    .default(null)
    .describe('The network profile; null in sessions of older versions.'),
  current: z
    .string()
    .nullable()
    .describe('What the agent is doing now, such as `terminal.run npm test`.'),
  waitingFor: z.array(approvalRequest).describe('Approvals that are waiting for the user.'),
  modelError: z
    .object({
      message: z.string(),
      retryAt: z.iso
        .datetime({ offset: true })
        .nullable()
        .describe('The time of the next attempt; null if the session waits for its user.'),
    })
    .nullable()
    .default(null)
    .describe(
      'Why the model cannot be called now. A message, another model, a changed key or `resume` tries again at once.',
    ),
  question: z.string().nullable().describe('The pending question of `ask`.'),
  options: z.array(z.string()).default([]).describe('The answers that the question offers.'),
  attention: attentionReason,
  plan: z.object({ steps: z.int(), done: z.int() }).nullable(),
  forkedFrom: z.object({ session: z.string(), seq: z.int() }).nullable(),
  tags: z.array(z.string()),
  archived: z.boolean(),
  comparison: z.string().nullable().default(null).describe('The comparison that it belongs to.'),
  check: sessionCheck
    .nullable()
    .default(null)
    .describe('The check command, `waiting` until the session ends; null for none.'),
  cloned: z
    .boolean()
    .default(false)
    .describe('Whether the workspace was cloned from a repository, to which it can be published.'),
  published: sessionPublication
    .nullable()
    .default(null)
    .describe('Where its changes were pushed last; null if they were not.'),
  activity: activity.default(noActivity),
  wallTime: timeSpent.describe(
    'How long it ran before `since`; if that is set, it is still running.',
  ),
  workTime: timeSpent.describe('Like `wallTime`, without pauses and waiting for the user.'),
});
export type SessionSummary = z.infer<typeof sessionSummary>;
