import { EventEmitter } from 'node:events';
import { AppError, type Contract, type StreamMeta, type StreamName } from '@belay/protocol';
import { Calls } from './calls.js';
import { decode, encode, type Frame } from './frame.js';
import { Link } from './link.js';
import type {
  CallInput,
  CallName,
  CallOutput,
  Rope,
  RopeStream,
  Servers,
  StreamOpener,
} from './rope.js';
import { Streams } from './streams.js';
import type { Wire } from './wire.js';

/** The contracts of one end: what it serves and what it calls. */
export interface Ends<S extends Contract, C extends Contract> {
  serves: S;
  calls: C;
}

/** How long `close` waits for what was sent to arrive, in milliseconds. */
const closePatience = 2_000;

/** One end of the rope, whatever the wire: calls and streams over a link. */
export class RopeEnd<S extends Contract, C extends Contract> implements Rope<S, C> {
  readonly #events = new EventEmitter();
  readonly #link: Link;
  readonly #calls: Calls;
  readonly #streams: Streams;
  #closed = false;

  /** `side` is different at the two ends, so that their streams have different names. */
  constructor(contracts: Ends<S, C>, side: 'dialled' | 'dials') {
    const send = (frame: Frame): void => this.#send(frame);
    this.#calls = new Calls(contracts, send);
    this.#streams = new Streams(side, send);
    this.#link = new Link({
      frame: (head, parts) => this.#receive(decode(head, parts)),
      up: () => this.#announce('connected'),
      down: () => this.#announce('disconnected'),
      replaced: () => this.#replaced(),
      gone: () => this.end(new AppError('unavailable', 'The other end has closed the rope.')),
    });
  }

  get connected(): boolean {
    return this.#link.up;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Goes on over this connection. */
  attach(wire: Wire): void {
    if (this.#closed) wire.close();
    else this.#link.attach(wire);
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

  open<N extends StreamName>(name: N, meta: StreamMeta<N>): Promise<RopeStream> {
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
    await this.#link.farewell(closePatience);
    this.end(new AppError('unavailable', 'The rope is closed.'));
  }

  /** Ends without a word to the other side: pending calls and streams fail with `error`. */
  end(error: AppError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#calls.close(error);
    this.#streams.close(error);
    this.#link.detach();
    this.#announce('closed');
  }

  /** In a turn of its own: what a listener throws is not taken for a fault of the connection. */
  #announce(event: 'connected' | 'disconnected' | 'closed'): void {
    queueMicrotask(() => this.#events.emit(event));
  }

  #send(frame: Frame): void {
    if (!this.#closed) this.#link.send(encode(frame));
  }

  #receive(frame: Frame): void {
    if (!this.#calls.receive(frame)) this.#streams.receive(frame);
  }

  #replaced(): void {
    this.#streams.breakOff(
      new AppError('unavailable', 'The other end was started anew; open the stream again.'),
    );
    this.#calls.again();
  }
}
