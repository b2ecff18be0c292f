import { AppError } from '@belay/protocol';
import { untilAborted } from '@belay/rpc';
import type { CallFormat, CallReader, HeldFrame, Refusal, HeldCall } from './held-call.js';

/** Milliseconds between two signs of life for a client whose reply is held. */
const pingMs = 10_000;
/** The most bytes of a reply that are held. */
const maxHeldBytes = 8 * 2 ** 20;
/** The most calls of a reply. */
const maxCalls = 128;

export interface HeldReplyOptions {
  format: CallFormat;
  /** Decides on a call; resolves with null if it may run. Called once for each call, in their order. */
  decide(call: HeldCall): Promise<Refusal | null>;
  write(bytes: Uint8Array): Promise<void>;
  /** A frame that the client ignores. */
  ping: string;
  /** Resolves once the session is not paused. */
  working(): Promise<void>;
  signal: AbortSignal;
  pingMs?: number;
}

/**
 * A stream on its way to a program, in which no byte of a call leaves before the verdict on it: programs run a call as
 * soon as they have read it, before the message ends. What comes before the first call passes at once. From then on all
 * frames are kept; they leave unchanged once every call in them is allowed, and at the end with stand-ins for those that
 * are refused.
 */
export class HeldReply {
  readonly #options: HeldReplyOptions;
  readonly #reader: CallReader;
  /** The calls that a decision was asked for, as they were then. */
  readonly #decided = new Map<string, { text: string; verdict: Promise<void> }>();
  readonly #allowed = new Set<string>();
  readonly #refused = new Map<string, Refusal>();
  /** The calls of which the client may have read something. */
  readonly #sent = new Set<string>();
  #failure: unknown;
  #held: HeldFrame[] = [];
  #heldBytes = 0;
  /** The frames that leave, in order. */
  #leaving: Promise<void> = Promise.resolve();
  #pings: NodeJS.Timeout | undefined;

  constructor(options: HeldReplyOptions) {
    this.#options = options;
    this.#reader = options.format.reader();
  }

  /**
   * Takes the next frame. Rejects when the client is gone, and with `model_failed` for a reply that cannot be checked:
   * one that is too large, or that changes a call after its end.
   */
  async add(bytes: Buffer, message: unknown): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const keys = this.#reader.read(message);
    const { calls } = this.#reader;
    if (calls.size > maxCalls) throw new AppError('model_failed', 'The reply has too many calls.');
    if (keys.some((key) => this.#isChanged(key)))
      throw new AppError('model_failed', 'The reply changes a call after its end.');
    if (this.#decided.size < calls.size)
      for (const call of calls.values()) if (call.isWhole) this.#decide(call);
    if (this.#held.length === 0 && keys.length === 0) return this.#leave([bytes]);
    this.#held.push({ bytes, message, keys });
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > maxHeldBytes)
      throw new AppError('model_failed', 'The reply has calls that are too large to be checked.');
    this.#pings ??= setInterval(() => this.#ping(), this.#options.pingMs ?? pingMs).unref();
  }

  /** Resolves when everything has left: after the end of the stream, and of all decisions. */
  async finish(): Promise<void> {
    const { signal, format } = this.#options;
    for (const call of this.#reader.calls.values()) this.#decide(call);
    const verdicts = [...this.#decided.values()].map(({ verdict }) => verdict);
    await untilAborted(signal, Promise.all(verdicts));
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#held.length > 0) {
      const refusals = { refused: this.#refused, leavesCalls: this.#leavesCalls() };
      const replaced = format.replaced(this.#held, refusals);
      const calls = keysOf(this.#held);
      this.#held = [];
      await this.#leave(replaced, calls);
    }
    await this.#leaving;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** The keys of the calls of which nothing has left. */
  get unsent(): readonly string[] {
    return [...this.#decided.keys()].filter((key) => !this.#sent.has(key));
  }

  /** Nothing leaves any more. */
  close(): void {
    clearInterval(this.#pings);
    this.#fail(new AppError('cancelled', 'The reply is over.'));
  }

  #isChanged(key: string): boolean {
    const [decided, call] = [this.#decided.get(key), this.#reader.calls.get(key)];
    return decided !== undefined && call !== undefined && decided.text !== textOfCall(call);
  }

  #decide(call: HeldCall): void {
    if (this.#decided.has(call.key)) return;
    const verdict = this.#options.decide({ ...call }).then(
      (refusal) => {
        if (refusal) this.#refused.set(call.key, refusal);
        else this.#allowed.add(call.key);
        this.#release();
      },
      (error: unknown) => this.#fail(error),
    );
    this.#decided.set(call.key, { text: textOfCall(call), verdict });
  }

  /** A program gets its calls one after the other, while none of them waits for its user. */
  #release(): void {
    const isAllowed = [...this.#reader.calls.keys()].every((key) => this.#allowed.has(key));
    if (!isAllowed || this.#held.length === 0 || this.#failure !== undefined) return;
    const frames = this.#held.map(({ bytes }) => bytes);
    const calls = keysOf(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    clearInterval(this.#pings);
    this.#pings = undefined;
    this.#leave(frames, calls).catch((error: unknown) => this.#fail(error));
  }

  /** Frames of calls wait for the end of a pause. */
  #leave(frames: readonly Buffer[], calls: readonly string[] = []): Promise<void> {
    const { signal, working, write } = this.#options;
    this.#leaving = this.#leaving.then(async () => {
      if (calls.length > 0) await untilAborted(signal, working());
      for (const key of calls) this.#sent.add(key);
      for (const frame of frames) await write(frame);
    });
    return this.#leaving;
  }

  /** Whole frames are written at once, so that a ping is always between two of them. */
  #ping(): void {
    this.#options
      .write(Buffer.from(this.#options.ping))
      .catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
  }

  #leavesCalls(): boolean {
    return this.#allowed.size > 0 || [...this.#refused.values()].some(({ standIn }) => standIn);
  }
}

const keysOf = (frames: readonly HeldFrame[]): string[] => frames.flatMap(({ keys }) => keys);

const textOfCall = ({ id, name, input }: HeldCall): string => JSON.stringify([id, name, input]);
