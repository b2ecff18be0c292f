import type { Duplex } from 'node:stream';
import type { Contract, StreamMeta, StreamName } from '@belay/protocol';
import type { z } from 'zod';

/** What a served call is told about itself. */
export interface ServeContext {
  /** Aborted when the caller cancels, or is gone for good. A break of the connection alone does not abort. */
  readonly signal: AbortSignal;
}

export type CallName<C extends Contract> = Extract<keyof C, string>;
export type CallInput<C extends Contract, K extends CallName<C>> = z.input<C[K]['input']>;
export type CallOutput<C extends Contract, K extends CallName<C>> = z.output<C[K]['output']>;

/** One function for each call of a contract. Throw `AppError`; anything else arrives as `internal`. */
export type Servers<C extends Contract> = {
  [K in CallName<C>]: (
    input: z.output<C[K]['input']>,
    context: ServeContext,
  ) => Promise<z.input<C[K]['output']>>;
};

export type StreamOpener<S extends StreamName> = (
  meta: StreamMeta<S>,
  stream: RopeStream,
) => Promise<void>;

/**
 * An ordered, acknowledged stream of bytes, both ways, as a Node Duplex.
 * `write` reports back pressure at a window of unacknowledged bytes; an acknowledgement is sent when the
 * other side has *consumed* the bytes (its `write` callback has run), so a reader that stores before it
 * calls back makes `acknowledged` mean “stored”. Survives a break of the connection: nothing is lost or doubled.
 */
export interface RopeStream extends Duplex {
  /** Bytes written here that the other side has consumed. */
  readonly acknowledged: number;
}

/** One end of the rope. `S` is what this end serves, `C` what it calls on the other end. */
export interface Rope<S extends Contract, C extends Contract> {
  /**
   * Calls the other end. Waits through a break of the connection and is sent again with the same id after it;
   * the other end runs a call once. Rejects with `AppError`: the other end's error, `cancelled` when `signal`
   * aborts, `unavailable` when the rope is closed.
   */
  call<K extends CallName<C>>(
    name: K,
    input: CallInput<C, K>,
    options?: { signal?: AbortSignal },
  ): Promise<CallOutput<C, K>>;
  serve(handlers: Servers<S>): void;
  /** Opens a stream; the other end may refuse, then the returned promise rejects with its `AppError`. */
  open<N extends StreamName>(name: N, meta: StreamMeta<N>): Promise<RopeStream>;
  /** Accepts streams of one name; the opener resolves to accept and throws `AppError` to refuse. */
  accept<N extends StreamName>(name: N, opener: StreamOpener<N>): void;
  /** `connected` also after each reconnect; `closed` once, when the rope is gone for good. */
  on(event: 'connected' | 'disconnected' | 'closed', listener: () => void): this;
  readonly connected: boolean;
  close(): Promise<void>;
}
