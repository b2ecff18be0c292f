import type { Duplex } from 'node:stream';
import type { Contract, StreamMeta, StreamName } from '@belay/protocol';
import type { z } from 'zod';

/** The second argument of a handler. */
export interface ServeContext {
  /**
   * Aborted when the caller cancels or its connection is permanently closed; a temporary interruption does not abort.
   */
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
  stream: RpcStream,
) => Promise<void>;

/**
 * An ordered, acknowledged stream of bytes in both directions, as a Node Duplex. `write` applies back pressure at a
 * window of unacknowledged bytes. An acknowledgement is sent when the peer has *consumed* the bytes (its `write`
 * callback has run), so if a reader stores bytes before it calls back, `acknowledged` means “stored”. Survives an
 * interruption of the connection: no byte is lost or delivered twice.
 */
export interface RpcStream extends Duplex {
  /** Bytes written here that the peer has consumed. */
  readonly acknowledged: number;
}

/**
 * One endpoint of a connection: `S` is the contract that it serves, `C` the one that it calls on its peer. Frames
 * arrive in order and once; concurrent calls may complete in any order.
 */
export interface RpcConnection<S extends Contract, C extends Contract> {
  /**
   * Calls the peer. There is no timeout: during an interruption of the connection the call waits and is sent again
   * with the same id, and the peer runs it once. Rejects with `AppError`: the peer's error, `cancelled` when `signal`
   * aborts (which also aborts the handler), `unavailable` when the connection is closed, `too_large` above 80 MiB,
   * `internal` when the output does not match the contract.
   */
  call<K extends CallName<C>>(
    name: K,
    input: CallInput<C, K>,
    options?: { signal?: AbortSignal },
  ): Promise<CallOutput<C, K>>;
  /** Adds handlers; a later one replaces an earlier one of the same name. */
  serve(handlers: Servers<S>): void;
  /** Resolves once the peer has accepted; rejects with its `AppError` when it refuses. */
  open<N extends StreamName>(name: N, meta: StreamMeta<N>): Promise<RpcStream>;
  /** Accepts streams with this name; the opener resolves to accept, and rejects with `AppError` to refuse. */
  accept<N extends StreamName>(name: N, opener: StreamOpener<N>): void;
  /** `connected` also after each reconnect; `closed` once, when the connection is permanently closed. */
  on(event: 'connected' | 'disconnected' | 'closed', listener: () => void): this;
  readonly connected: boolean;
  /** Waits up to 2 s for sent frames to be acknowledged; pending calls then fail with `unavailable`. */
  close(): Promise<void>;
}
