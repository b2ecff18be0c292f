import { z } from 'zod';
import { approvalMode, approvalRequest } from './approvals.js';
import { errorShape } from './errors.js';
import { blobId, operationCall, usage } from './models.js';
import { lineChange } from './operations/files.js';
import { terminalName } from './operations/terminal.js';
import { newMessage, sessionChange, sessionSettings, sessionState } from './session.js';

export const eventSource = z.enum(['user', 'agent', 'server']);
export type EventSource = z.infer<typeof eventSource>;

/** The id of a call that a person makes begins with this; those of a model never do. */
export const personCallPrefix = 'person-';

/**
 * The facts of a log besides calls of operations, by action, with the shape of their `args`.
 * A call of an operation has the operation's name as its action and its input as args; `result` follows with the same id.
 */
export const eventArgs = {
  /** user: the session begins, or begins again after its end (`again`). */
  start: sessionSettings.extend({ again: z.boolean().default(false) }),
  /** user: a message. */
  message: newMessage,
  /** agent: one reply of the model, with the calls it asks for, in order. */
  say: z.object({
    text: z.string(),
    reasoning: z.string().optional(),
    calls: z.array(operationCall),
    opaque: z.record(z.string(), z.unknown()).optional(),
    cut: z.literal(true).optional().describe('The reply reached its limit of length.'),
    seen: z
      .object({ own: z.int().nonnegative(), others: z.int().nonnegative() })
      .optional()
      .describe(
        'The last events, of the agent and of all others, that the prompt of this reply knew.',
      ),
    sandbox: z
      .string()
      .optional()
      .describe('What the prompt said of the sandbox; from the first reply on it stays the same.'),
  }),
  /** agent: the outcome of the call with the event's id. */
  result: z.object({
    operation: z.string(),
    ok: z.boolean(),
    output: z.unknown().describe('The operation’s output, or an error’s shape.'),
    seconds: z.number().nonnegative(),
    images: z.array(blobId).default([]),
    note: z.string().optional().describe('What the model is told besides the output.'),
  }),
  /** agent: the plan is now this Markdown. */
  plan: z.object({ markdown: z.string() }),
  /** agent: an edit landed (OpenDevin's code message). `removed` are the lines it took away. */
  code: z.object({
    path: z.string(),
    line: z.int().nonnegative().describe('First line of the change, from 1; 0 for a binary file.'),
    change: lineChange,
    content: z.array(z.string()),
    removed: z.int().nonnegative().default(0),
    truncated: z.boolean().default(false).describe('The change is too large to be shown here.'),
  }),
  /** agent: the page changed. `screenshot` is a JPEG blob. */
  browser: z.object({ url: z.string(), title: z.string(), screenshot: blobId.nullable() }),
  /** agent: a terminal opened, closed, changed its size or its holder. */
  terminal: z.object({
    terminal: terminalName,
    change: z.enum(['opened', 'closed', 'resized', 'held']),
    columns: z.int().positive(),
    rows: z.int().positive(),
    holder: z.enum(['agent', 'user']),
  }),
  /** agent: a commit of the shadow history; `id` is the call that changed the files. */
  commit: z.object({
    commit: z.string(),
    parent: z.string().nullable(),
    files: z.array(
      z.object({ path: z.string(), added: z.int().nonnegative(), removed: z.int().nonnegative() }),
    ),
  }),
  /** agent: guidance that a person trusts, read from the workspace. */
  guidance: z.object({ files: z.array(z.object({ path: z.string(), text: z.string() })) }),
  /**
   * agent: the conversation up to `through` is replaced by a summary, or only has its long results
   * shortened when `summary` is empty; nothing leaves the log.
   */
  compact: z.object({
    through: z.int().nonnegative(),
    summary: z.string(),
    dropped: z.object({ messages: z.int(), results: z.int(), tokens: z.int() }),
  }),
  /** user: the shortening at `seq` is undone. */
  restore: z.object({ seq: z.int().positive() }),
  /** user: what follows `seq` no longer counts, as files, as conversation or both. */
  rewind: z.object({ seq: z.int().positive(), what: z.enum(['files', 'conversation', 'both']) }),
  /** server: a call waits for a person, or is held back until `until`. */
  approval: approvalRequest.extend({
    mode: approvalMode,
    until: z.iso.datetime({ offset: true }).nullable(),
  }),
  /** user or server: the call with the event's id may run; `rule` when a rule said so. */
  approve: z.object({ rule: z.string().nullable().default(null) }),
  /** user or server: the call with the event's id may not run. */
  reject: z.object({ reason: z.string(), rule: z.string().nullable().default(null) }),
  pause: z.object({}),
  resume: z.object({}),
  stop: z.object({}),
  /** user: settings changed while it runs. */
  change: sessionChange,
  /** server: what one call of a model used. */
  usage: usage.extend({
    model: z.string(),
    contextTokens: z.int().nonnegative(),
    contextWindow: z.int().positive().nullable(),
  }),
  /** server: a budget is spent. */
  limit: z.object({ budget: z.string(), limit: z.number(), used: z.number() }),
  /** server: a call of a model failed and is tried again. */
  retry: z.object({ attempt: z.int().positive(), seconds: z.number(), error: z.string() }),
  /** server: for so long the log could not be written, as the disk was full. */
  stalled: z.object({ seconds: z.number().nonnegative() }),
  /** server: a connection out of the sandbox ended or was refused. */
  egress: z.object({
    host: z.string(),
    port: z.int(),
    verdict: z.enum(['allowed', 'refused', 'failed']),
    reason: z.string().nullable(),
    sent: z.int().nonnegative(),
    received: z.int().nonnegative(),
  }),
  /** server: a session begins without the tools of an MCP server. */
  mcp: z.object({ server: z.string(), error: z.string() }),
  /** server: this session goes on from another one. */
  fork: z.object({ session: z.string(), seq: z.int().positive() }),
  /** agent: something went wrong that ends the work. */
  error: errorShape,
  /** server: the session is now in this state. */
  state: z.object({ state: sessionState, reason: z.string().nullable() }),
};

export type FactAction = keyof typeof eventArgs;
export type EventArgs<A extends FactAction> = z.output<(typeof eventArgs)[A]>;

/** One entry of a session's log. */
export const event = z.object({
  seq: z.int().positive(),
  time: z.iso.datetime({ offset: true }),
  source: eventSource,
  action: z.string(),
  args: z.record(z.string(), z.unknown()),
  message: z.string().describe('The event in words, for a person.'),
  id: z.string().optional().describe('The call that this belongs to.'),
});
export type Event = z.infer<typeof event>;

/** An event before the log has numbered it. */
export type NewEvent = Omit<Event, 'seq' | 'time'> & { time?: string };

/** A fact of one action, its args typed. */
export type Fact<A extends FactAction> = Omit<Event, 'action' | 'args'> & {
  action: A;
  args: EventArgs<A>;
};

/** Whether an event is a fact of this action; its args were checked when it was appended. */
export function isFact<A extends FactAction>(value: Event, action: A): value is Event & Fact<A> {
  return value.action === action;
}

/** Builds an event to append; its args are checked by the action's schema. */
export function fact<A extends FactAction>(
  source: EventSource,
  action: A,
  body: { args: z.input<(typeof eventArgs)[A]>; message: string; id?: string },
): NewEvent {
  const args = eventArgs[action].parse(body.args) as Record<string, unknown>;
  return { source, action, args, message: body.message, ...(body.id && { id: body.id }) };
}
