import { z } from 'zod';
import { agentProgram, programToken } from './agent-program.js';
import { actionOutput, startedAction } from './actions.js';
import { approvalVerdict } from './approvals.js';
import { event, maxDelivered } from './events.js';
import { engineId } from './machines.js';
import { mcpOutput } from './mcp.js';
import { blobId, modelCall, modelReply } from './models.js';
import { serverService } from './operation.js';
import { terminalName } from './operations/terminal.js';
import { webOperations } from './operations/web.js';
import { previewPort } from './preview.js';
import { programStart } from './program-connection.js';
import { sessionSettings } from './session.js';
import { commitId, copyHead, copyKind } from './step-copies.js';
import { transcriptFile, transcriptFolder } from './transcript-file.js';

/** A typed call over the agent connection. */
export interface Procedure<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  readonly input: I;
  readonly output: O;
}
export type Contract = Record<string, Procedure>;

const procedure = <I extends z.ZodType, O extends z.ZodType>(input: I, output: O) => ({
  input,
  output,
});
const nothing = z.object({});
const bytes = z.instanceof(Uint8Array);

/** A call of this session by its id in the log. The server reads the call from the log, never from the agent. */
const loggedCall = z.object({ id: z.string().min(1).max(300) });

/** What an agent needs to start or resume a session. */
export const startPayload = z.object({
  session: z.string(),
  settings: sessionSettings,
  /** The whole log so far: empty for a new session, filled after a restart or a fork. */
  events: z.array(event),
  /** Fencing token: writes of an agent with an older epoch are refused. */
  epoch: z.int().nonnegative(),
  /** The program that works on the session; omitted for Belay's own agent. */
  program: agentProgram.optional(),
});
export type StartPayload = z.infer<typeof startPayload>;

/** The longest sentence of an agent’s event, in characters; longer ones are cut before they are sent. */
export const maxAgentMessage = 20_000;
/** The maximum number of events that an agent sends at once, and of their characters in total. */
export const eventBatch = { events: 200, characters: 8 * 2 ** 20 } as const;

/** The characters that are kept of a check’s output. */
export const maxCheckOutput = 16_000;

/** An event from the agent. `n` increases by one per agent process, so that an event sent twice is stored once. */
export const agentEvent = event.omit({ seq: true, source: true }).extend({
  n: z.int().positive(),
  action: z.string().min(1).max(300),
  message: z.string().max(maxAgentMessage),
  id: z.string().max(200).optional(),
});
export type AgentEvent = z.infer<typeof agentEvent>;

/** Calls that the agent serves (reverse RPC: the agent connects and then serves; after Carabiner). */
export const agentCalls = {
  /** Assigns a session to an idle agent; repeating it for the same session changes nothing. */
  'session.begin': procedure(startPayload, nothing),
  /** Events of the log from other sources, in order; duplicates are ignored. */
  'session.events': procedure(z.object({ events: z.array(event) }), nothing),
  /** A user’s call of an operation; unless it only reads, the agent logs the call and its result. */
  'operation.call': procedure(
    z.object({ id: z.string(), operation: z.string(), input: z.unknown() }),
    z.object({ output: z.unknown() }),
  ),
  /** A user’s keystrokes; `terminal.hold` comes first. */
  'terminal.keys': procedure(z.object({ terminal: terminalName, data: z.string() }), nothing),
  'terminal.resize': procedure(
    z.object({
      terminal: terminalName,
      columns: z.int().min(2).max(1000),
      rows: z.int().min(1).max(1000),
    }),
    nothing,
  ),
  /** Changes the input owner: the user takes the terminal over, or returns it. */
  'terminal.hold': procedure(
    z.object({ terminal: terminalName, holder: z.enum(['agent', 'user']) }),
    nothing,
  ),
  /** Opens a terminal for the user. */
  'terminal.open': procedure(z.object({ terminal: terminalName }), nothing),
  /**
   * After the parts of a copy (streams `copies.restore`), before `session.begin`: writes the files of the last copied
   * step into the empty workspace. Errors: conflict without parts.
   */
  'copies.checkOut': procedure(nothing, copyHead.pick({ commit: true, without: true })),
  /** Resolves when the server has stored all steps so far; rejects with the reason why it cannot. */
  'copies.flush': procedure(nothing, nothing),
  /** Whether the browser has viewers; frames are sent only then. */
  'browser.watch': procedure(z.object({ watched: z.boolean() }), nothing),
  /**
   * Runs a check command in the workspace, beside the shells; cancelling the call ends it. Errors: timeout.
   */
  'check.run': procedure(
    z.object({ command: z.string(), timeoutMs: z.int().positive() }),
    z.object({
      exitCode: z.int(),
      /** The end of what it printed. */
      output: z.string().max(maxCheckOutput),
      seconds: z.number().nonnegative(),
    }),
  ),
  /** The agent exits after sending its remaining events. */
  shutdown: procedure(nothing, nothing),
} satisfies Contract;

/** Calls that the server serves to an agent. */
export const serverCalls = {
  /** First call on every connection. Returns the start payload when there is one. */
  hello: procedure(
    z.object({
      version: z.string(),
      /** Set when the agent already has a session (a reconnect). */
      session: z.string().nullable(),
      epoch: z.int().nonnegative(),
      /** The last event of the log that the agent has. */
      lastSeq: z.int().nonnegative(),
    }),
    z.object({
      startPayload: startPayload.nullable(),
      /** For a reconnect: missed events, and the `n` of the agent’s last stored event. */
      events: z.array(event),
      storedN: z.int().nonnegative(),
      /** The services of this server: operations that need others are not offered to the model. */
      services: z.array(serverService).default([]),
    }),
  ),
  /** Stores events in order, all or none; returns their numbers. */
  'events.append': procedure(
    z.object({
      session: z.string(),
      epoch: z.int().nonnegative(),
      events: z.array(agentEvent).min(1).max(eventBatch.events),
    }),
    z.object({ seqs: z.array(z.int().positive()) }),
  ),
  /**
   * Calls the session’s model; text is streamed to the viewers meanwhile. Errors: limit_reached, model_failed,
   * context_overflow, cancelled; conflict when the server no longer has the messages that the request builds on
   * (`SentPrompt` then sends all of them).
   */
  'model.generate': procedure(modelCall, modelReply),
  /**
   * Before queued messages of these numbers become part of a prompt, or answer a question: from then on users cannot
   * change them. `through` is the last event of others that the agent knows; conflict when one of them was changed
   * after that.
   */
  'messages.deliver': procedure(
    z.object({
      epoch: z.int().nonnegative(),
      messages: z.array(z.int().positive()).min(1).max(maxDelivered),
      through: z.int().nonnegative(),
    }),
    nothing,
  ),
  /**
   * The conversation so far in the form in which the session’s program keeps its own, for a program in this folder that
   * does not know it; null if the program has no such form, or nothing was said yet.
   */
  'program.conversation': procedure(
    z.object({ cwd: transcriptFolder }),
    z.object({ file: transcriptFile.nullable() }),
  ),
  /**
   * The session’s program for the model that the session has now, to be started by the same agent process, whose gateway
   * knows the token. Errors: conflict for a session of Belay’s own agent, or when the agent was removed from the server.
   */
  'program.current': procedure(
    z.object({ token: programToken }),
    z.object({ program: agentProgram }),
  ),
  /** Asks whether a logged call may run; returns once that is decided. */
  'approvals.request': procedure(loggedCall, approvalVerdict),
  'blobs.put': procedure(
    z.object({ type: z.string().max(200), bytes }),
    z.object({ blob: blobId }),
  ),
  'blobs.get': procedure(z.object({ blob: blobId }), z.object({ type: z.string(), bytes })),
  /** How many bytes of a terminal are stored: the offset at which its stream resumes after a break. */
  'terminal.stored': procedure(
    z.object({ terminal: terminalName }),
    z.object({ offset: z.int().nonnegative() }),
  ),
  /** Which copies of the session’s steps are stored. */
  'copies.stored': procedure(
    nothing,
    z.object({
      /** The number of the next part. */
      next: z.int().positive(),
      /** The last parts of each kind; 0 for none. */
      steps: z.int().nonnegative(),
      repository: z.int().nonnegative(),
      /** The commit of the last part of the steps. */
      commit: commitId.nullable(),
      /** False if this server keeps no copies. */
      wanted: z.boolean(),
    }),
  ),
  /** A part of a program’s reply for viewers, before the log has the reply; not stored. */
  'reply.delta': procedure(
    z.object({ kind: z.enum(['text', 'reasoning']), text: z.string().max(100_000) }),
    nothing,
  ),
  /** A live frame of the browser for its viewers; not stored. */
  'browser.frame': procedure(
    z.object({
      jpeg: bytes,
      width: z.int().positive(),
      height: z.int().positive(),
      url: z.string(),
    }),
    nothing,
  ),
  /**
   * Starts a browser beside a sandbox whose image has none, for the logged call that needs it; returns its DevTools
   * address on loopback.
   */
  'browser.sidecar': procedure(loggedCall, z.object({ endpoint: z.string() })),
  /** The connections that were refused since the last report, and the hosts that are open, as text for the model. */
  'egress.report': procedure(nothing, z.object({ text: z.string().max(8_000).nullable() })),
  /** Runs the logged call of an MCP tool, once it is approved. */
  'mcp.call': procedure(loggedCall, mcpOutput),
  /** Runs the logged call of an installed action, once it is approved; an asynchronous one is only started. */
  'action.call': procedure(loggedCall, z.union([startedAction, actionOutput])),
  /** Runs the logged search, once it is approved. */
  'web.search': procedure(loggedCall, webOperations['web.search'].output),
} satisfies Contract;

/** The head of the server’s reply on a stream `model`: its length as four bytes, big endian, then this as JSON. */
export const modelReplyHead = z.object({
  status: z.int().min(200).max(599),
  headers: z.record(z.string().max(100), z.string().max(8_192)),
});
export type ModelReplyHead = z.infer<typeof modelReplyHead>;
/** The most bytes of a `modelReplyHead`. */
export const maxReplyHead = 2 ** 16;

/** Byte streams over the connections of agents, starters and machines: their names and the metadata that opens them. */
export const streams = {
  /** agent → server: output of a terminal from `offset` on; acknowledged once stored. */
  terminal: z.object({ terminal: terminalName, offset: z.int().nonnegative() }),
  /** server → machine: the tar archive of a call `host.fill`. */
  'host.fill': z.object({ fill: z.uuid() }),
  /**
   * evaluation → server → machine: the archive of an image with this id on the evaluation’s engine; the machine ends its
   * half once it has the image.
   */
  'task.image': z.object({ image: engineId }),
  /** machine → server → evaluation: a tar of a file or folder; refused as `not_found` if it does not exist. */
  'task.files': z.object({ id: engineId, path: z.string().max(4_096) }),
  /** agent or starter → server, bidirectional: one outgoing connection of the container; may be refused. */
  egress: z.object({ host: z.string(), port: z.int().min(1).max(65535) }),
  /**
   * agent → server, bidirectional: one HTTP request of a program to the session’s model. The agent sends the body and
   * ends its half; the server sends a `modelReplyHead` and the body.
   */
  model: z.object({
    method: z.enum(['GET', 'POST']),
    /** With the query, without the credentials. */
    path: z.string().startsWith('/').max(2_000),
    headers: z.record(z.string().max(100), z.string().max(8_192)),
  }),
  /** server → agent, bidirectional: a connection to the program that listens on this port of the sandbox’s loopback; may be refused. */
  preview: z.object({ port: previewPort }),
  /**
   * agent → server: a part of the copies of the session’s steps; the server ends its half once it is stored. `after` is
   * the last part of its kind, on which it builds; 0 for a whole copy, which replaces all earlier parts of its kind.
   * Errors: conflict for a number that is not the next one, or while another part arrives; limit_reached when a whole
   * copy must take the place of the parts, or is too large itself; disk_full.
   */
  'copies.store': z.object({
    kind: copyKind,
    n: z.int().positive(),
    after: z.int().nonnegative(),
    commit: commitId,
  }),
  /**
   * server → agent, before `session.begin`: a stored part, the oldest first; the agent ends its half once it has unpacked
   * it.
   */
  'copies.restore': z.object({ kind: copyKind }),
  /**
   * server → starter, bidirectional: a program that it starts. The server sends its input, and receives its output in the
   * form of `outputPieces`; a destroyed stream kills it.
   */
  program: programStart,
  /** starter → server: the files that a program has left, see `programFile`. */
  files: z.object({}),
  /**
   * server → starter, which sends a tar of a file, or of a folder with its content, without mounts, while no program runs;
   * with `since`, only what was made or changed since that time in ms. Refused with `not_found` if it does not exist.
   */
  'program.archive': z.object({
    path: z.string().startsWith('/'),
    since: z.number().optional(),
  }),
  /**
   * server → starter, which sends the paths of everything in the container but its mounts, while no program runs: each
   * with `+` before it if it was made or changed since that time in ms, if one is given, or else `=`, and NUL after it.
   */
  'program.listing': z.object({ since: z.number().optional() }),
  /** server → agent: a tar archive to unpack into the empty workspace. */
  'workspace.import': z.object({}),
  /** server → agent, which sends the bytes: changes as patch, files as zip or tar, history as bundle. */
  'workspace.export': z.object({
    format: z.enum(['patch', 'zip', 'bundle', 'tar']),
    commit: z
      .string()
      .optional()
      .describe('Up to this commit of the history; the latest if omitted.'),
    from: z
      .string()
      .optional()
      .describe('For a patch: from this commit on; from the start if omitted.'),
  }),
};
export type StreamName = keyof typeof streams;
export type StreamMeta<S extends StreamName> = z.output<(typeof streams)[S]>;
export type ExportFormat = StreamMeta<'workspace.export'>['format'];
