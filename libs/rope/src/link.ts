import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Encoded } from './frame.js';
import type { Wire } from './wire.js';

export interface LinkListener {
  frame(head: unknown, parts: readonly unknown[]): void;
  up(): void;
  down(): void;
  /** The other end is not the one that was there before: what it was told and what it told is void. */
  replaced(): void;
  /** The other end has closed the rope. */
  gone(): void;
}

const hello = z.object({
  self: z.string(),
  peer: z.string().nullable(),
  received: z.int().nonnegative(),
});

// Made once: it sees every message.
const frameNumber = z.int();

/** An acknowledgement is sent after so many frames or milliseconds, whichever comes first. */
const ackFrames = 64;
const ackDelay = 20;

/**
 * Frames in order and exactly once, over one wire after another. Frames are numbered and kept until they are
 * acknowledged; each wire begins with a `hello` that says who is there and how far it has received.
 */
export class Link {
  readonly #self = randomUUID();
  readonly #outbox = new Map<number, Encoded>();
  #peer: string | null = null;
  #wire: Wire | undefined;
  #up = false;
  #sent = 0;
  #received = 0;
  #told = 0;
  #ackTimer: NodeJS.Timeout | undefined;
  #settled: (() => void)[] = [];
  #hungUp = (): void => {};

  constructor(private readonly listener: LinkListener) {}

  get up(): boolean {
    return this.#up;
  }

  /** Goes on over this wire; one that was there before is closed. */
  attach(wire: Wire): void {
    this.detach();
    this.#wire = wire;
    wire.listen({
      message: (kind, args) => {
        if (this.#wire === wire) this.#guard(() => this.#receive(kind, args));
      },
      closed: () => {
        if (this.#wire === wire) this.detach();
      },
    });
    wire.send('hello', { self: this.#self, peer: this.#peer, received: this.#received });
  }

  detach(): void {
    const wire = this.#wire;
    if (!wire) return;
    this.#wire = undefined;
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    wire.close();
    if (!this.#up) return;
    this.#up = false;
    this.#hungUp();
    this.listener.down();
  }

  send(frame: Encoded): void {
    const seq = ++this.#sent;
    this.#outbox.set(seq, frame);
    if (this.#up) this.#wire?.send('frame', seq, frame.head, ...frame.parts);
  }

  /** Says good-bye once everything sent is acknowledged, and waits for the other end to hang up; `limit` milliseconds for each. */
  async farewell(limit: number): Promise<void> {
    if (!this.#up) return;
    if (this.#outbox.size > 0) await within(limit, (done) => this.#settled.push(done));
    if (!this.#up) return;
    await within(limit, (done) => {
      this.#hungUp = done;
      this.#wire?.send('bye');
    });
  }

  /** A message that no honest end sends breaks the connection; it must not break the process. */
  #guard(receive: () => void): void {
    try {
      receive();
    } catch {
      this.detach();
    }
  }

  #receive(kind: string, args: readonly unknown[]): void {
    if (kind === 'hello') this.#greet(hello.parse(args[0]));
    else if (!this.#up) throw new Error('A message before hello.');
    else if (kind === 'frame') this.#take(frameNumber.parse(args[0]), args);
    else if (kind === 'ack') this.#prune(frameNumber.parse(args[0]));
    else if (kind === 'bye') this.listener.gone();
  }

  #greet(other: z.output<typeof hello>): void {
    const knowsMe = other.peer === this.#self;
    const fresh = other.self !== this.#peer || (other.peer !== null && !knowsMe);
    if (fresh && this.#peer !== null) {
      this.#outbox.clear();
      this.#sent = 0;
      this.#received = 0;
      this.#told = 0;
    }
    const replaced = fresh && this.#peer !== null;
    this.#peer = other.self;
    if (knowsMe) this.#prune(other.received);
    for (const [seq, frame] of this.#outbox) {
      this.#wire?.send('frame', seq, frame.head, ...frame.parts);
    }
    this.#up = true;
    if (replaced) this.listener.replaced();
    this.listener.up();
  }

  #take(seq: number, args: readonly unknown[]): void {
    if (seq <= this.#received) return;
    if (seq !== this.#received + 1) throw new Error('A frame is missing.');
    this.#received = seq;
    if (seq - this.#told >= ackFrames) this.#acknowledge();
    else this.#ackTimer ??= setTimeout(() => this.#acknowledge(), ackDelay);
    this.listener.frame(args[1], args.slice(2));
  }

  #acknowledge(): void {
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    this.#told = this.#received;
    this.#wire?.send('ack', this.#received);
  }

  #prune(received: number): void {
    for (const seq of this.#outbox.keys()) {
      if (seq > received) break;
      this.#outbox.delete(seq);
    }
    if (this.#outbox.size > 0) return;
    for (const resolve of this.#settled.splice(0)) resolve();
  }
}

async function within(limit: number, start: (done: () => void) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limit);
  start(resolve);
  await promise;
  clearTimeout(timer);
}
