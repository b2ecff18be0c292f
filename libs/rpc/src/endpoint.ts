import { EventEmitter } from 'node:events';
import { AppError, type Contract, type StreamMeta, type StreamName } from '@belay/protocol';
import { Calls } from './calls.js';
import { decode, encodeOrFail, type Frame, type ReceivedFrame } from './frame.js';
import { FrameChannel } from './frame-channel.js';
import { limits } from './limits.js';
import type {
  CallInput,
  CallName,
  CallOutput,
  RpcConnection,
  RpcStream,
  Servers,
  StreamOpener,
} from './connection.js';
import { Streams } from './streams.js';
import type { Wire } from './wire.js';

/** The contracts of one endpoint: the one that it serves, and its peer’s. */
export interface EndpointContracts<S extends Contract, C extends Contract> {
  serves: S;
  calls: C;
}

export interface EndpointRole {
  role: 'dialer' | 'listener';
  /** The peer broke the protocol, as a clause; the wire is closed, and a listener’s connection permanently. */
  onBroken?(reason: string): void;
}

/** How long `close` waits for sent frames to be acknowledged, and then for the peer to disconnect. */
const closeTimeoutMs = 2_000;

/** One endpoint of a connection, independent of the wire: calls and streams over a frame channel. */
export class RpcEndpoint<S extends Contract, C extends Contract> implements RpcConnection<S, C> {
  readonly #events = new EventEmitter();
  readonly #channel: FrameChannel;
  readonly #calls: Calls;
  readonly #streams: Streams;
  #closed = false;

  /** The roles of the two endpoints differ, so that their stream ids differ. */
  constructor(contracts: EndpointContracts<S, C>, { role, onBroken }: EndpointRole) {
    const send = (frame: Frame): void => this.#send(frame);
    this.#calls = new Calls(contracts, send);
    this.#streams = new Streams(role, send);
    const jsonBytes = role === 'listener' ? limits.dialerJsonBytes : limits.frameBytes;
    this.#channel = new FrameChannel(role, {
      frame: (bytes) => this.#receive(decode(bytes, jsonBytes)),
      connected: () => this.#emit('connected'),
      disconnected: () => this.#emit('disconnected'),
      peerReplaced: () => this.#replacePeer(),
      peerClosed: () => this.end(new AppError('unavailable', 'The peer closed the connection.')),
      broken: (reason) => {
        if (role === 'listener')
          this.end(new AppError('unavailable', `The peer broke off: ${reason}.`));
        onBroken?.(reason);
      },
    });
  }

  get connected(): boolean {
    return this.#channel.connected;
  }

  /** Whether it has a wire, even before the peer’s first message. */
  get attached(): boolean {
    return this.#channel.attached;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Continues over this wire, also after an interruption. */
  attach(wire: Wire): void {
    if (this.#closed) wire.close();
    else this.#channel.attach(wire);
  }

  call<K extends CallName<C>>(
    name: K,
    input: CallInput<C, K>,
    options: { signal?: AbortSignal } = {},
  ): Promise<CallOutput<C, K>> {
    return this.#calls.call(name, input, options.signal) as Promise<CallOutput<C, K>>;
  }

  serve(handlers: Servers<S>): void {
    this.#calls.serve(handlers);
  }

  open<N extends StreamName>(name: N, meta: StreamMeta<N>): Promise<RpcStream> {
    return this.#streams.open(name, meta);
  }

  accept<N extends StreamName>(name: N, opener: StreamOpener<N>): void {
    this.#streams.accept(name, opener);
  }

  on(event: 'connected' | 'disconnected' | 'closed', listener: () => void): this {
    this.#events.on(event, listener);
    return this;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#channel.closeGracefully(closeTimeoutMs);
    this.end(new AppError('unavailable', 'The connection is closed.'));
  }

  /** Closes without notifying the peer; pending calls and streams fail with `error`. */
  end(error: AppError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#calls.close(error);
    this.#streams.close(error);
    this.#channel.end();
    this.#emit('closed');
  }

  /** In a separate microtask, so that an exception of a listener is not an error of the connection. */
  #emit(event: 'connected' | 'disconnected' | 'closed'): void {
    queueMicrotask(() => this.#events.emit(event));
  }

  /** Throws if a call, or a frame that opens a stream, cannot be sent. */
  #send(frame: Frame): void {
    if (!this.#closed) this.#channel.send(encodeOrFail(frame));
  }

  #receive(received: ReceivedFrame): void {
    if (!this.#calls.receive(received)) this.#streams.receive(received);
  }

  #replacePeer(): void {
    this.#streams.abort(
      new AppError('unavailable', 'The peer was restarted. Open the stream again.'),
    );
    this.#calls.resend();
  }
}
