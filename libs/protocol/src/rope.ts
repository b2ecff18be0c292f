import { z } from 'zod';
import { approvalRequest, approvalVerdict } from './approvals.js';
import { event } from './events.js';
import { mcpOutput } from './mcp.js';
import { blobId, modelReply, modelRequest } from './models.js';
import { terminalName } from './operations/terminal.js';
import { webOperations } from './operations/web.js';
import { sessionSettings } from './session.js';

/** A typed call over the rope. */
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

/** What an agent must know to begin or to go on. */
export const assignment = z.object({
  session: z.string(),
  settings: sessionSettings,
  /** The whole log so far: empty for a new session, filled after a restart or a fork. */
  events: z.array(event),
  /** Writes of an agent with an older epoch are refused (the fence). */
  epoch: z.int().nonnegative(),
});
export type Assignment = z.infer<typeof assignment>;

/** An event from the agent. `n` counts up per agent process, so that one sent twice is stored once. */
export const agentEvent = event.omit({ seq: true, source: true }).extend({ n: z.int().positive() });
export type AgentEvent = z.infer<typeof agentEvent>;

/** Calls that the agent serves (reverse RPC: it dialled, and then it serves; after Carabiner). */
export const agentCalls = {
  /** Gives an idle agent its session; for the same session again it changes nothing. */
  'session.begin': procedure(assignment, nothing),
  /** Events of the log that are not from the agent, in order; those it has already are ignored. */
  'session.events': procedure(z.object({ events: z.array(event) }), nothing),
  /** A person's call of an operation; unless it only reads, the agent writes call and result into the log. */
  'operation.call': procedure(
    z.object({ id: z.string(), operation: z.string(), input: z.unknown() }),
    z.object({ output: z.unknown() }),
  ),
  /** A person's keystrokes; taking the terminal comes first. */
  'terminal.keys': procedure(z.object({ terminal: terminalName, data: z.string() }), nothing),
  'terminal.resize': procedure(
    z.object({
      terminal: terminalName,
      columns: z.int().min(2).max(1000),
      rows: z.int().min(1).max(1000),
    }),
    nothing,
  ),
  /** Who types: a person takes the terminal over, or hands it back. */
  'terminal.hold': procedure(
    z.object({ terminal: terminalName, holder: z.enum(['agent', 'user']) }),
    nothing,
  ),
  /** Opens a terminal for a person. */
  'terminal.open': procedure(z.object({ terminal: terminalName }), nothing),
  /** Whether anybody watches the browser: only then frames are sent. */
  'browser.watch': procedure(z.object({ watched: z.boolean() }), nothing),
  /** The agent ends after writing what is left. */
  shutdown: procedure(nothing, nothing),
} satisfies Contract;

/** Calls that the server serves to an agent. */
export const serverCalls = {
  /** First call on every connection. The server answers with the assignment when there is one. */
  hello: procedure(
    z.object({
      version: z.string(),
      /** Set when the agent already works on a session (a reconnect). */
      session: z.string().nullable(),
      epoch: z.int().nonnegative(),
      /** The last event of the log that it has. */
      lastSeq: z.int().nonnegative(),
    }),
    z.object({
      assignment: assignment.nullable(),
      /** For a reconnect: what it missed, and the `n` of its last stored event. */
      events: z.array(event),
      storedN: z.int().nonnegative(),
    }),
  ),
  /** Stores events in order, all or none; answers their numbers. */
  'events.append': procedure(
    z.object({
      session: z.string(),
      epoch: z.int().nonnegative(),
      events: z.array(agentEvent).min(1),
    }),
    z.object({ seqs: z.array(z.int().positive()) }),
  ),
  /** Calls the session's model. Text streams to the viewers meanwhile. Errors: limit_reached, model_failed, context_overflow, cancelled. */
  'model.generate': procedure(modelRequest, modelReply),
  /** Asks whether a call may run; answers when it is decided. */
  'approvals.request': procedure(approvalRequest, approvalVerdict),
  'blobs.put': procedure(z.object({ type: z.string(), bytes }), z.object({ blob: blobId })),
  'blobs.get': procedure(z.object({ blob: blobId }), z.object({ type: z.string(), bytes })),
  /** How many bytes of a terminal are stored: where its stream goes on after a break. */
  'terminal.stored': procedure(
    z.object({ terminal: terminalName }),
    z.object({ offset: z.int().nonnegative() }),
  ),
  /** A live picture of the browser for those who watch; not stored. */
  'browser.frame': procedure(
    z.object({
      jpeg: bytes,
      width: z.int().positive(),
      height: z.int().positive(),
      url: z.string(),
    }),
    nothing,
  ),
  /** Starts a browser beside a sandbox whose image has none; answers its DevTools address on loopback. */
  'browser.sidecar': procedure(nothing, z.object({ endpoint: z.string() })),
  /** Runs the logged call of an MCP tool with this id, once it is approved. */
  'mcp.call': procedure(z.object({ id: z.string() }), mcpOutput),
  'web.search': procedure(webOperations['web.search'].input, webOperations['web.search'].output),
} satisfies Contract;

/** Byte streams over the rope, by name, with what opens them. */
export const streams = {
  /** agent → server: what a terminal prints, from `offset` on; acknowledged once stored. */
  terminal: z.object({ terminal: terminalName, offset: z.int().nonnegative() }),
  /** agent → server, both ways: one connection out of the sandbox; refused with an error. */
  egress: z.object({ host: z.string(), port: z.int().min(1).max(65535) }),
  /** server → agent: a tar archive to unpack into the empty workspace. */
  'workspace.import': z.object({}),
  /** server → agent, which answers with bytes: the changes as a patch, the files as zip, the history as bundle. */
  'workspace.export': z.object({
    format: z.enum(['patch', 'zip', 'bundle', 'tar']),
    commit: z
      .string()
      .optional()
      .describe('Up to this commit of the history; the latest when left out.'),
  }),
};
export type StreamName = keyof typeof streams;
export type StreamMeta<S extends StreamName> = z.output<(typeof streams)[S]>;
