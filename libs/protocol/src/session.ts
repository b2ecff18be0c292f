import { z } from 'zod';
import { activity, noActivity } from './activity.js';
import { approvalMode, approvalRequest } from './approvals.js';
import { mcpServerName, mcpTool } from './mcp.js';
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
  steps: z.int().positive().nullable().describe('Calls of a model.'),
  tokens: z.int().positive().nullable().describe('Prompt and reply together.'),
  dollars: z.number().positive().nullable(),
  seconds: z.number().positive().nullable().describe('Wall time since the start.'),
};

/** Hard limits, checked before each call of a model; null is no limit. */
export const budgets = z.object({
  steps: limits.steps.default(100),
  tokens: limits.tokens.default(null),
  dollars: limits.dollars.default(null),
  seconds: limits.seconds.default(null),
});
export type Budgets = z.infer<typeof budgets>;

const way = {
  profile: z
    .enum(['none', 'packages', 'list', 'open'])
    .describe('`packages`: the registries of the common ecosystems; `list`: only `hosts`.'),
  hosts: z
    .array(z.string())
    .describe('More hosts: name, name:port or *.name; they count in every profile but none.'),
};

/** Which hosts a sandbox may reach through the server’s proxy. */
export const egressPolicy = z.object({
  profile: way.profile.default('packages'),
  hosts: way.hosts.default([]),
});
export type EgressPolicy = z.infer<typeof egressPolicy>;

/** What a person may set for all sessions to come; a session's own values count before these. */
export const sessionDefaults = z.object({
  budgets: budgets.prefault({}),
  egress: egressPolicy.prefault({}),
  approvals: approvalMode.default('ask'),
});
export type SessionDefaults = z.infer<typeof sessionDefaults>;

/** Some of them; what is left out stays as it is. */
export const sessionDefaultsChange = z
  .object({
    budgets: z.object(limits).partial(),
    egress: z.object(way).partial(),
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

/** What the programs of a sandbox may do: docs/sandboxes.md says what each profile allows. */
export const sandboxProfile = z
  .enum(['hardened', 'root'])
  .default('hardened')
  .describe(
    '`hardened`: an ordinary user on a read-only system; `root`: may install system packages.',
  );
export type SandboxProfile = z.output<typeof sandboxProfile>;

const title = z.string().max(200);
const tags = z.array(z.string().min(1).max(40)).max(20);

/** What a person may change of a session at any time; what is left out stays as it is. */
export const sessionChange = z
  .object({ title, tags, archived: z.boolean(), approvals: approvalMode, budgets })
  .partial();

/** What an agent must know to work on a session; the first event of the log carries it. */
export const sessionSettings = z.object({
  task: z
    .string()
    .min(1)
    .max(200_000, 'at most 200,000 characters; put the rest into a file of the workspace'),
  model: modelName,
  image: z.string().nullable().default(null).describe('A Docker image; null is the default one.'),
  sandbox: sandboxProfile,
  workspace: z
    .string()
    .nullable()
    .default(null)
    .describe('An uploaded workspace’s id, or `example:NAME`; null is an empty folder.'),
  title: title.optional(),
  ...sessionDefaults.shape,
  trust: z
    .boolean()
    .default(false)
    .describe('Trust AGENTS.md and skills of the workspace from the start.'),
  images: z.array(blobId).default([]).describe('Pictures that belong to the task.'),
  tags: tags.default([]),
  mcp: z.array(mcpTool).default([]).describe('Tools of MCP servers, as they were at its begin.'),
});
export type SessionSettings = z.infer<typeof sessionSettings>;
export type SessionSettingsInput = z.input<typeof sessionSettings>;

/** What a session is made with: what is left out comes from the server’s settings. */
export const newSession = sessionSettings.extend({
  ...sessionDefaultsChange.shape,
  mcp: z
    .array(mcpServerName)
    .optional()
    .describe('MCP servers by name; all that are enabled when left out.'),
});
export type NewSession = z.input<typeof newSession>;

/** A session in one line: what the fleet shows. Folded from the log. */
export const sessionSummary = z.object({
  id: z.string(),
  title: z.string(),
  task: z.string(),
  model: z.string(),
  image: z.string().nullable(),
  sandbox: sandboxProfile,
  state: sessionState,
  reason: z.string().nullable().describe('Why it is in this state, for a person.'),
  created: z.iso.datetime({ offset: true }),
  updated: z.iso.datetime({ offset: true }),
  lastSeq: z.int().nonnegative(),
  steps: z.int().nonnegative(),
  tokens: z.int().nonnegative(),
  dollars: z.number().nonnegative(),
  contextTokens: z.int().nonnegative().describe('Tokens of the last prompt.'),
  contextWindow: z.int().positive().nullable(),
  budgets,
  approvals: approvalMode,
  current: z
    .string()
    .nullable()
    .describe('What it does this second, such as `terminal.run npm test`.'),
  waitingFor: z.array(approvalRequest).describe('Questions that wait for a person.'),
  question: z.string().nullable().describe('The question of `ask`, while it waits.'),
  options: z.array(z.string()).default([]).describe('The answers that this question offers.'),
  plan: z.object({ steps: z.int(), done: z.int() }).nullable(),
  forkedFrom: z.object({ session: z.string(), seq: z.int() }).nullable(),
  tags: z.array(z.string()),
  archived: z.boolean(),
  activity: activity.default(noActivity),
  wallTime: z
    .object({
      seconds: z.number().nonnegative(),
      since: z.iso.datetime({ offset: true }).nullable(),
    })
    .default({ seconds: 0, since: null })
    .describe('How long it has run; since `since` it runs on.'),
});
export type SessionSummary = z.infer<typeof sessionSummary>;

export const newMessage = z.object({
  text: z.string().min(1).max(200_000),
  delivery: z
    .enum(['queue', 'steer'])
    .default('queue')
    .describe('`queue`: at the end of the turn; `steer`: before the next call of the model.'),
  pinned: z.boolean().default(false).describe('Kept word for word when the context is shortened.'),
  images: z.array(blobId).default([]),
});
export type NewMessage = z.infer<typeof newMessage>;

export const forkRequest = z.object({
  seq: z.int().positive().describe('The last event that the new session keeps.'),
  model: modelName.optional(),
  message: newMessage.optional(),
});

export const rewindRequest = z.object({
  seq: z.int().positive().describe('The last event that counts.'),
  what: z.enum(['files', 'conversation', 'both']),
  preview: z.boolean().default(false),
});
