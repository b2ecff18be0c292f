import { randomUUID } from 'node:crypto';
import { expireAfterReading } from './expire-after-reading.js';
import { limits } from './limits.js';
import {
  ackMessage,
  byeMessage,
  helloMessage,
  MalformedMessage,
  numberFrame,
  readMessage,
  type WireMessage,
} from './message.js';
import type { Wire } from './wire.js';

export interface ChannelListener {
  frame(bytes: Buffer): void;
  connected(): void;
  disconnected(): void;
  /** The peer is another process than before: frames sent to and received from the previous one are invalid. */
  peerReplaced(): void;
  /** The peer has permanently closed the connection. */
  peerClosed(): void;
  /** The peer sent something that no honest peer sends, or reads nothing; this wire is closed. */
  broken(reason: string): void;
}

/** An acknowledgement is sent after this many frames or milliseconds, whichever comes first. */
const ackFrames = 64;
const ackDelayMs = 20;

/**
 * Delivers frames in order and exactly once over successive wires. Frames are numbered and kept until they are
 * acknowledged; each wire begins with a `hello` with the sender's id and the last frame that it received. A listener
 * limits the wait for it to a few seconds, accepts it only from the same process as before, and limits the frames that
 * it keeps.
 */
export class FrameChannel {
  readonly #self = randomUUID();
  readonly #outbox = new Map<number, Buffer>();
  #outboxBytes = 0;
  #peer: string | null = null;
  #wire: Wire | undefined;
  #connected = false;
  #sent = 0;
  #received = 0;
  #acknowledged = 0;
  #ackTimer: NodeJS.Timeout | undefined;
  #endWaiting = (): void => {};
  #drainListeners: (() => void)[] = [];
  #onDetach = (): void => {};
  readonly #listener: ChannelListener;
  readonly #isListener: boolean;

  constructor(role: 'dialer' | 'listener', listener: ChannelListener) {
    this.#isListener = role === 'listener';
    this.#listener = listener;
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Whether there is a wire, even before its `hello`. */
  get attached(): boolean {
    return this.#wire !== undefined;
  }

  /** Continues over this wire; the previous one is closed. */
  attach(wire: Wire): void {
    this.detach();
    this.#wire = wire;
    wire.listen({
      message: (bytes) => {
        if (this.#wire === wire) this.#guard(() => this.#receive(readMessage(bytes)));
      },
      closed: () => {
        if (this.#wire === wire) this.detach();
      },
      broken: (reason) => {
        if (this.#wire === wire) this.#break(reason);
      },
    });
    wire.send(helloMessage(this.#self, this.#peer, this.#received));
    if (!this.#isListener) return;
    this.#endWaiting = expireAfterReading(limits.helloTimeoutMs, () => this.detach());
  }

  detach(): void {
    const wire = this.#wire;
    if (!wire) return;
    this.#wire = undefined;
    this.#endWaiting();
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    wire.close();
    if (!this.#connected) return;
    this.#connected = false;
    this.#onDetach();
    this.#listener.disconnected();
  }

  /** Detaches for good: nothing is waited for any longer. */
  end(): void {
    this.detach();
    this.#resolveDrained();
  }

  /** Queues an encoded frame until the peer has acknowledged it; never blocks and never fails. */
  send(encoded: Buffer): void {
    const seq = ++this.#sent;
    this.#outbox.set(seq, numberFrame(encoded, seq));
    this.#outboxBytes += encoded.length;
    if (this.#connected) this.#wire?.send(encoded);
    const isTooMuch =
      this.#outbox.size > limits.outboxFrames || this.#outboxBytes > limits.outboxBytes;
    if (this.#isListener && isTooMuch) this.#break('it does not read what is sent to it');
  }

  /**
   * Waits until every frame is acknowledged, sends `bye`, and waits for the peer to disconnect: at most `timeoutMs`
   * for each of the two. Resolves in any case; returns at once when there is no wire.
   */
  async closeGracefully(timeoutMs: number): Promise<void> {
    if (!this.#connected) return;
    if (this.#outbox.size > 0) await within(timeoutMs, (done) => this.#drainListeners.push(done));
    if (!this.#connected) return;
    await within(timeoutMs, (done) => {
      this.#onDetach = done;
      this.#wire?.send(byeMessage());
    });
  }

  /** A malformed message ends this wire, but must not end the process. */
  #guard(receive: () => void): void {
    try {
      receive();
    } catch (error) {
      this.#break(error instanceof MalformedMessage ? error.message : 'a message is malformed');
    }
  }

  #break(reason: string): void {
    this.detach();
    this.#listener.broken(reason);
  }

  #receive(message: WireMessage): void {
    if (message.kind === 'hello') this.#handleHello(message);
    else if (!this.#connected) throw new MalformedMessage('a message came before hello');
    else if (message.kind === 'frame') this.#handleFrame(message);
    else if (message.kind === 'ack') this.#prune(message.received);
    else this.#listener.peerClosed();
  }

  #handleHello(other: WireMessage & { kind: 'hello' }): void {
    if (this.#connected) throw new MalformedMessage('a second hello came');
    const knowsMe = other.peer === this.#self;
    const isNewPeer = other.self !== this.#peer || (other.peer !== null && !knowsMe);
    const replaced = isNewPeer && this.#peer !== null;
    // An agent is a single process; servers may restart.
    if (replaced && this.#isListener)
      throw new MalformedMessage('a hello came from another process');
    if (replaced) this.#forget();
    this.#endWaiting();
    this.#peer = other.self;
    if (knowsMe) this.#prune(other.received);
    for (const message of this.#outbox.values()) this.#wire?.send(message);
    this.#connected = true;
    if (replaced) this.#listener.peerReplaced();
    this.#listener.connected();
  }

  #handleFrame({ seq, frame }: WireMessage & { kind: 'frame' }): void {
    if (seq <= this.#received) return;
    if (seq !== this.#received + 1) throw new MalformedMessage('a frame is missing');
    this.#received = seq;
    if (seq - this.#acknowledged >= ackFrames) this.#acknowledge();
    else this.#ackTimer ??= setTimeout(() => this.#acknowledge(), ackDelayMs);
    this.#listener.frame(frame);
  }

  #acknowledge(): void {
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    this.#acknowledged = this.#received;
    this.#wire?.send(ackMessage(this.#received));
  }

  #prune(received: number): void {
    for (const [seq, message] of this.#outbox) {
      if (seq > received) break;
      this.#outbox.delete(seq);
      this.#outboxBytes -= message.length;
    }
    if (this.#outbox.size === 0) this.#resolveDrained();
  }

  #resolveDrained(): void {
    for (const resolve of this.#drainListeners.splice(0)) resolve();
  }

  #forget(): void {
    this.#outbox.clear();
    this.#outboxBytes = 0;
    this.#sent = 0;
    this.#received = 0;
    this.#acknowledged = 0;
  }
}

/** Resolves when `start` reports completion, or after `timeoutMs`. */
export async function within(timeoutMs: number, start: (done: () => void) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  start(resolve);
  await promise;
  clearTimeout(timer);
}
