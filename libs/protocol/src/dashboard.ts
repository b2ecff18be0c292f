import { z } from 'zod';
import type { Scope } from './access.js';
import type { EvaluationSummary } from './evaluations.js';
import type { Event } from './events.js';
import { terminalName } from './operations/terminal.js';
import type { ErrorShape } from './errors.js';
import type { SessionSummary } from './session.js';

/** Path of the dashboard socket (socket.io) on the server. */
export const dashboardPath = '/socket';

const session = z.string().max(200);

interface ViewerRequest {
  scope: Scope;
  /** When the audit log records it: always, or the first for each session over one connection. Unset if nothing changes. */
  audit?: 'always' | 'first';
  input: z.ZodType;
}

const offsets = z
  .record(terminalName, z.int().nonnegative())
  .refine((terminals) => Object.keys(terminals).length <= 1_000, 'at most 1,000');

/** The requests of a viewer over the socket; each is answered by an acknowledgement. */
export const viewerRequests = {
  /**
   * Follow one session: events after `after`, then live; terminals from their offsets, then live. With `now`, terminals
   * begin with what they print next, and the answer has the offsets of it as `terminals`.
   */
  watch: {
    scope: 'view',
    input: z.object({
      session,
      after: z.int().nonnegative(),
      terminals: z.union([offsets, z.enum(['now', 'none'])]).default({}),
    }),
  },
  unwatch: { scope: 'view', input: z.object({ session }) },
  /** Follow the summaries of all sessions. */
  fleet: { scope: 'view', input: z.object({}) },
  /** Follow the summaries of all benchmark runs. */
  evaluations: { scope: 'view', input: z.object({}) },
  'terminal.keys': {
    scope: 'operate',
    audit: 'first',
    input: z.object({ session, terminal: terminalName, data: z.string().max(1_000_000) }),
  },
  /**
   * The size that this viewer can show of a terminal; null when it no longer shows it. The terminal takes the
   * smallest size of all viewers.
   */
  'terminal.fit': {
    scope: 'operate',
    input: z.object({
      session,
      terminal: terminalName,
      size: z
        .object({ columns: z.int().min(2).max(1000), rows: z.int().min(1).max(1000) })
        .nullable(),
    }),
  },
  'terminal.hold': {
    scope: 'operate',
    audit: 'always',
    input: z.object({ session, terminal: terminalName, holder: z.enum(['agent', 'user']) }),
  },
  'terminal.open': {
    scope: 'operate',
    audit: 'always',
    input: z.object({ session, terminal: terminalName }),
  },
  /** Whether this viewer shows the browser panel. */
  'browser.watch': { scope: 'view', input: z.object({ session, watched: z.boolean() }) },
} satisfies Record<string, ViewerRequest>;
export type ViewerRequests = {
  [K in keyof typeof viewerRequests]: z.input<(typeof viewerRequests)[K]['input']>;
};

/** The answer to each request: its value, or an error. */
export type Answer<T = Record<string, never>> =
  { ok: true; value: T } | { ok: false; error: ErrorShape };

/** The requests as socket.io types them: input, then the acknowledgement with the answer. */
export type ViewerCalls = {
  [K in keyof ViewerRequests]: (
    input: ViewerRequests[K],
    answer: (answer: Answer<unknown>) => void,
  ) => void;
};

/** The notices that the server sends to viewers. */
export interface ViewerNotices {
  /** Events in order, without gap or repetition per session. */
  events: (notice: { session: string; events: Event[] }) => void;
  /** Text of a reply that is being written; not stored, replaced by the `say` event. */
  delta: (notice: { session: string; kind: 'text' | 'reasoning'; text: string }) => void;
  /** Bytes of a terminal at `offset`. A gap since the last bytes was skipped and can be read over REST. */
  terminal: (
    notice: {
      session: string;
      terminal: string;
      offset: number;
      bytes: ArrayBuffer | Uint8Array;
    },
    received: () => void,
  ) => void;
  /** The latest output of an action’s call while it runs; not stored, because its result has the whole output. */
  output: (notice: { session: string; call: string; text: string }) => void;
  /** The progress of copying the workspace into its sandbox, in bytes of the archive; `total` is null if unknown. */
  copied: (notice: { session: string; done: number; total: number | null }) => void;
  frame: (notice: {
    session: string;
    jpeg: ArrayBuffer | Uint8Array;
    width: number;
    height: number;
    url: string;
  }) => void;
  /** A followed session was deleted; no more notices about it follow. */
  gone: (notice: { session: string; error: ErrorShape }) => void;
  /** The summary of a session that changed, or was deleted. */
  session: (notice: { id: string; summary: SessionSummary | null }) => void;
  /** The summary of a benchmark run that changed, or was removed from the board. */
  evaluation: (notice: { id: string; summary: EvaluationSummary | null }) => void;
}
