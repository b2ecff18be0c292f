import { z } from 'zod';
import { agentTurn, importedConversation } from './agent-turn.js';
import { approvalMode, approvalRequest, approvalVerdict, decider } from './approvals.js';
import { changeTotal } from './change-total.js';
import { checkResult } from './check.js';
import { errorShape } from './errors.js';
import { fileChange, fileVersion } from './file-version.js';
import { plannedPush, recordedPublication } from './git.js';
import { blobId, modelRequest, operationCall, usage } from './models.js';
import { lineChange } from './operations/files.js';
import { runResult, terminalName } from './operations/terminal.js';
import { sessionChange, sessionSettings, sessionState } from './session.js';
import { newMessage } from './session-messages.js';
import { sessionMachine } from './machines.js';
import { commitId, restoredFiles } from './step-copies.js';
import { replacedArgs, requestArgs, requestId } from './wire-events.js';

export const eventSource = z.enum(['user', 'agent', 'server']);
export type EventSource = z.infer<typeof eventSource>;

/** The id of a call that the user makes begins with this; those of a model never do. */
export const userCallPrefix = 'user-';
/** Begins the ids of calls that an agent’s program runs by itself, and that its model’s reply did not contain. */
export const programCallPrefix = 'acp-';

/** The longest id of a call; providers give up to 64 characters. */
const callId = z.string().min(1).max(200);
/** The maximum number of queued messages that one event delivers to the model. */
export const maxDelivered = 1_000;
/** The longest path that Linux accepts. */
const path = z.string().max(4_096);
/** The id of a question about a connection begins with this; no call may have such an id. */
export const hostQuestionPrefix = 'egress:';

/**
 * The events of a log other than calls of operations, by action, with the shape of their `args`.
 * A call of an operation has the operation’s name as its action and its input as args; `result` follows with the same id.
 */
export const eventArgs = {
  /** user: the session starts, or restarts after its end (`again`). */
  start: sessionSettings.extend({ again: z.boolean().default(false) }),
  /** user: a message. */
  message: newMessage,
  /** user: replaces the text of the queued message with this number. */
  edit: z.object({ message: z.int().positive(), text: newMessage.shape.text }),
  /** user: withdraws the queued message with this number. */
  withdraw: z.object({ message: z.int().positive() }),
  /** server: these queued messages go to the model and can no longer be changed. */
  deliver: z.object({ messages: z.array(z.int().positive()).min(1).max(maxDelivered) }),
  /** agent: one reply of the model, with the calls it asks for, in order. */
  say: z.object({
    text: z.string(),
    reasoning: z.string().optional(),
    calls: z.array(operationCall.extend({ id: callId })).max(128),
    opaque: z.record(z.string(), z.unknown()).optional(),
    cut: z.literal(true).optional().describe('The reply reached its length limit.'),
    unreadable: z.literal(true).optional().describe('The reply had a call that cannot be read.'),
    seen: z
      .object({ own: z.int().nonnegative(), others: z.int().nonnegative() })
      .optional()
      .describe(
        'The last event of the agent, and of all others, that the prompt of this reply included.',
      ),
    sandbox: z
      .string()
      .optional()
      .describe('The prompt’s description of the sandbox; it never changes after the first reply.'),
    notice: z
      .string()
      .max(2_000)
      .optional()
      .describe('The notice at the end of the prompt about budgets that are nearly spent.'),
  }),
  /** agent: the outcome of the call with the event’s id. */
  result: z.object({
    operation: z.string().max(300),
    ok: z.boolean(),
    output: z.unknown().describe('The operation’s output, or an error’s shape.'),
    seconds: z.number().nonnegative(),
    images: z.array(blobId).max(100).default([]),
    note: z.string().max(20_000).optional().describe('A note to the model besides the output.'),
    edited: approvalVerdict.shape.edited.describe(
      'The fields that the user changed before the call ran: it ran with these.',
    ),
    changes: z
      .array(fileChange)
      .max(1_000)
      .optional()
      .describe('For a user’s call: the files whose changes `note` shows completely.'),
    moreChanges: z
      .literal(true)
      .optional()
      .describe('For a user’s call: set if `note` also covers other files.'),
  }),
  /** agent, or server after a rewind: the plan’s new Markdown. */
  plan: z.object({
    markdown: z.string().max(100_000),
    file: path.optional().describe('The workspace file that contains the plan.'),
  }),
  /** agent: an edit was made (OpenDevin’s code message). `removed` is the number of lines that it removed. */
  code: z.object({
    path,
    line: z
      .int()
      .nonnegative()
      .describe('The first line of the change, counted from 1; 0 for a binary file.'),
    change: lineChange,
    content: z.array(z.string()).max(1_000),
    removed: z.int().nonnegative().default(0),
    truncated: z.boolean().default(false).describe('The change is too large to be shown here.'),
    version: fileVersion
      .optional()
      .describe(
        'The version of the whole file with this change; omitted if another change follows or the file is gone.',
      ),
  }),
  /** agent: the page changed. `screenshot` is a JPEG blob. */
  browser: z.object({
    url: z.string().max(10_000),
    title: z.string().max(1_000),
    screenshot: blobId.nullable(),
  }),
  /** agent: a terminal was opened, closed or resized, its input owner changed, or the user typed in it. */
  terminal: z.object({
    terminal: terminalName,
    change: z.enum(['opened', 'closed', 'resized', 'held', 'typed']),
    columns: z.int().positive().max(10_000),
    rows: z.int().positive().max(10_000),
    holder: z.enum(['agent', 'user']),
    to: z.int().nonnegative().optional().describe('The number of bytes it had printed by then.'),
  }),
  /** agent: a background command ended, and no call reported it; `text` is the last output of its terminal. */
  exit: z.object({
    terminal: terminalName,
    command: z.string().max(500),
    status: runResult.shape.status,
    exitCode: z.int().nullable(),
    killed: runResult.shape.killed,
    seconds: z.number().nonnegative(),
    text: z.string().max(2_000),
    from: z
      .int()
      .nonnegative()
      .optional()
      .describe('The byte offset in the terminal at which its output begins.'),
    mixed: z
      .literal(true)
      .optional()
      .describe('Set if other commands printed meanwhile; their lines are not in `text`.'),
  }),
  /** agent: a commit of the shadow history; `id` is the call that changed the files. */
  commit: z.object({
    commit: commitId,
    parent: commitId.nullable(),
    files: z
      .array(z.object({ path, added: z.int().nonnegative(), removed: z.int().nonnegative() }))
      .max(1_000),
    total: changeTotal
      .optional()
      .describe('All changed files, as `workspace.diff` counts them, if not the sum of `files`.'),
    commits: z
      .array(z.object({ commit: commitId, subject: z.string().max(200) }))
      .max(20)
      .optional()
      .describe(
        'The latest new commits of the workspace’s own repository, which are not in the patch.',
      ),
  }),
  /** agent: guidance that the user trusts, read from the workspace. */
  guidance: z.object({
    files: z.array(z.object({ path, text: z.string().max(100_000) })).max(200),
  }),
  /**
   * agent: the conversation up to `through` is replaced by a summary, or if `summary` is empty, only its long
   * results are shortened; the log keeps everything.
   */
  compact: z.object({
    through: z.int().nonnegative(),
    summary: z.string(),
    longest: z
      .int()
      .positive()
      .default(1_200)
      .describe('Without a summary: the results above this many characters are shortened.'),
    dropped: z.object({ messages: z.int(), results: z.int(), tokens: z.int() }),
  }),
  /** user: undoes the shortening at `seq`. */
  restore: z.object({ seq: z.int().positive() }),
  /** user: resets the files, the conversation or both to `seq`. */
  rewind: z.object({
    seq: z.int().positive(),
    what: z.enum(['files', 'conversation', 'both']),
    last: z
      .int()
      .nonnegative()
      .optional()
      .describe('The last event before the rewind began: a rewind to it undoes this one.'),
  }),
  /** server: a call waits for the user, or is held back until `until`. */
  approval: approvalRequest.extend({
    mode: approvalMode,
    until: z.iso.datetime({ offset: true }).nullable(),
  }),
  /** user or server: the call with the event’s id may run, also if nobody was asked; older logs omit `by`. */
  approve: z.object({ by: decider.optional(), edited: approvalVerdict.shape.edited }),
  /** user or server: the call with the event’s id may not run. */
  reject: z.object({ reason: z.string(), by: decider.optional() }),
  pause: z.object({
    now: z.literal(true).optional().describe('The model’s reply and running calls are broken off.'),
  }),
  resume: z.object({}),
  stop: z.object({}),
  /** user: settings changed while the session runs. */
  change: sessionChange,
  /**
   * server: a program of the sandbox calls the model; stored before the provider gets a byte. `usage` with the same
   * `request` settles it.
   */
  request: requestArgs,
  /**
   * server: a program of the sandbox gets another call in the place of the one with the event’s id, which may not run.
   * Later requests of the program have the original in its place again.
   */
  replaced: replacedArgs,
  /** server: the usage of one model call. */
  usage: usage.extend({
    model: z.string(),
    purpose: z
      .enum([...modelRequest.shape.purpose.options, 'draft', 'side', 'failed'])
      .default('turn')
      .describe(
        '`draft`: a text for the user, not a call of the agent; `side`: a call without tools; `failed`: the provider refused the call, which does not count as a step.',
      ),
    request: requestId
      .optional()
      .describe('The `request` that this settles; omitted for calls of Belay’s own agent.'),
    seconds: z
      .number()
      .nonnegative()
      .optional()
      .describe('How long the call took, with its retries, unless a `request` says when it began.'),
    estimated: z
      .literal(true)
      .optional()
      .describe('The provider did not say how many tokens it counted.'),
    contextTokens: z.int().nonnegative(),
    contextWindow: z.int().positive().nullable(),
  }),
  /** server: a budget is spent. */
  limit: z.object({ budget: z.string(), limit: z.number(), used: z.number() }),
  /** server: a model call failed and is retried. */
  retry: z.object({ attempt: z.int().positive(), seconds: z.number(), error: z.string() }),
  /** server: the seconds during which the log could not be written because the disk was full. */
  stalled: z.object({ seconds: z.number().nonnegative() }),
  /** server: the agent violated the protocol, and its connection was closed. */
  breach: z.object({ reason: z.string() }),
  /** server: a call that ran in the background ended; the event’s id is that of the call. */
  'background-result': z.object({
    operation: z.string().max(300),
    ok: z.boolean(),
    output: z.unknown().describe('The same as in a `result`.'),
    seconds: z.number().nonnegative(),
    images: z.array(blobId).max(100).default([]),
  }),
  /** server: a connection out of the sandbox ended or was refused. */
  egress: z.object({
    host: z.string(),
    port: z.int(),
    verdict: z.enum(['allowed', 'refused', 'failed']),
    reason: z.string().nullable(),
    sent: z.int().nonnegative(),
    received: z.int().nonnegative(),
  }),
  /** user: a commit of the changes is about to be pushed to a git host; `publish` follows once it is there. */
  pushing: plannedPush,
  /** user: the changes were pushed to a git host. */
  publish: recordedPublication,
  /** server: the check command was started or has ended; `output` is the end of its output. */
  check: checkResult.extend({
    command: z.string().max(2_000),
    output: z.string().max(20_000).default(''),
  }),
  /** server: a session starts without the tools of an MCP server. */
  mcp: z.object({ server: z.string(), error: z.string() }),
  /** server: the stored event with this number cannot be read; this one replaces it for readers and is never stored. */
  unreadable: z.object({ fault: z.string() }),
  /** server: the sandbox’s files were gone, and were put back from the server’s copy of a step. */
  restored: restoredFiles,
  /** server: the next sandbox is on this joined machine; null for one of the server’s own. */
  placed: z.object({ machine: sessionMachine.nullable() }),
  /** server: this session continues another one. */
  fork: z.object({ session: z.string(), seq: z.int().positive() }),
  /** server: the events before this one are a conversation that this agent had on another machine. */
  imported: importedConversation,
  /** agent: another agent goes on with the session; what ran in the earlier one’s terminals is gone. */
  renewed: z.object({}),
  /** agent: the work ends with a reply without calls, whose text is the result. */
  end: z.object({ text: z.string() }),
  /** agent: a change in the work of an agent’s program, which is not Belay’s own loop. */
  turn: agentTurn,
  /** agent: its program waits for the user in its terminal, for this reason; null if it no longer does. */
  attention: z.object({ why: z.string().min(1).max(300).nullable() }),
  /** agent: an error that interrupts the work until the user acts. */
  error: errorShape,
  /** server: the session is now in this state. */
  state: z.object({ state: sessionState, reason: z.string().nullable() }),
};

export type EventAction = keyof typeof eventArgs;
export type EventArgs<A extends EventAction> = z.output<(typeof eventArgs)[A]>;

/** One entry of a session’s log. */
export const event = z.object({
  seq: z.int().positive(),
  time: z.iso.datetime({ offset: true }),
  source: eventSource,
  action: z.string(),
  args: z.record(z.string(), z.unknown()),
  message: z.string().describe('The event as a sentence for the user.'),
  id: z.string().optional().describe('The id of the call that this event belongs to.'),
});
export type Event = z.infer<typeof event>;

/** An event before the log numbers it. */
export type NewEvent = Omit<Event, 'seq' | 'time'> & { time?: string };

/** An event of one action, its args typed. */
export type EventOf<A extends EventAction> = Omit<Event, 'action' | 'args'> & {
  action: A;
  args: EventArgs<A>;
};

/** Whether an event has this action; its args were checked when it was appended. */
export function isEvent<A extends EventAction>(
  value: Event,
  action: A,
): value is Event & EventOf<A> {
  return value.action === action;
}

/** Builds an event to append; its args are checked by the action’s schema. */
export function newEvent<A extends EventAction>(
  source: EventSource,
  action: A,
  body: { args: z.input<(typeof eventArgs)[A]>; message: string; id?: string },
): NewEvent {
  const args = eventArgs[action].parse(body.args) as Record<string, unknown>;
  return { source, action, args, message: body.message, ...(body.id && { id: body.id }) };
}
