import { AppError } from '@belay/protocol';

/** How an earlier request with a key ended. */
type Outcome = { ended: true; value?: unknown; error?: AppError } | { ended: false };

interface Kept {
  /** What the request was: its address and body. */
  fingerprint: string;
  expires: number;
  outcome: Promise<Outcome>;
  /** Characters of the answer; 0 while it is made. */
  size: number;
}

const limits = {
  keptMs: 24 * 3600_000,
  callers: 1_000,
  /** Of one caller. */
  keys: 1_000,
  size: 8 * 2 ** 20,
};

/** Failures after which nothing was done, or not all of it: the same request may try again. */
const tryAgain = new Set<string>([
  'invalid_input',
  'unauthorized',
  'forbidden',
  'limit_reached',
  'cancelled',
  'unavailable',
  'disk_full',
  'internal',
]);

/**
 * Answers a request that is repeated with the same key as the first time, instead of doing it twice. Answers are in
 * memory, for a day, in bounds of each caller: the oldest make way.
 */
export class IdempotencyKeys {
  readonly #callers = new Map<string, Map<string, Kept>>();

  constructor(private readonly now: () => number = Date.now) {}

  /** Throws `conflict` for a key that another request had, or whose answer was too large to keep. */
  async once(
    caller: string,
    { key, fingerprint }: { key: string; fingerprint: string },
    work: () => Promise<unknown>,
  ): Promise<{ value: unknown; repeated: boolean }> {
    const known = this.#find(caller, key);
    if (known) {
      if (known.fingerprint !== fingerprint) throw other(key);
      const outcome = await known.outcome;
      // Of several that waited for one that failed, the first tries again and the others wait for it.
      if (!outcome.ended) return this.once(caller, { key, fingerprint }, work);
      if (outcome.error) throw outcome.error;
      return { value: outcome.value, repeated: true };
    }
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const kept = { fingerprint, expires: this.now() + limits.keptMs, outcome: promise, size: 0 };
    this.#keep(caller, key, kept);
    try {
      const value = await work();
      const size = sizeOf(value);
      const fits = size <= limits.size;
      kept.size = fits ? size : 0;
      resolve(fits ? { ended: true, value } : { ended: true, error: tooLarge(key) });
      this.#bound(caller);
      return { value, repeated: false };
    } catch (error) {
      const isFinal = error instanceof AppError && !tryAgain.has(error.code);
      if (!isFinal) this.#callers.get(caller)?.delete(key);
      resolve(isFinal ? { ended: true, error } : { ended: false });
      throw error;
    }
  }

  #find(caller: string, key: string): Kept | undefined {
    const kept = this.#callers.get(caller)?.get(key);
    if (kept === undefined || kept.expires > this.now()) return kept;
    this.#callers.get(caller)?.delete(key);
    return undefined;
  }

  #keep(caller: string, key: string, kept: Kept): void {
    const keys = this.#callers.get(caller) ?? new Map<string, Kept>();
    this.#callers.delete(caller);
    this.#callers.set(caller, keys.set(key, kept));
    const [oldest] = this.#callers.keys();
    if (this.#callers.size > limits.callers && oldest !== undefined) this.#callers.delete(oldest);
    this.#bound(caller);
  }

  #bound(caller: string): void {
    const keys = this.#callers.get(caller);
    let size = [...(keys?.values() ?? [])].reduce((sum, kept) => sum + kept.size, 0);
    for (const [key, kept] of keys ?? []) {
      const isOver = kept.expires <= this.now();
      if (!isOver && size <= limits.size && (keys?.size ?? 0) <= limits.keys) break;
      keys?.delete(key);
      size -= kept.size;
    }
  }
}

const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

const other = (key: string): AppError =>
  new AppError(
    'conflict',
    `The Idempotency-Key ${key} was used for another request. Make a new one.`,
  );

const tooLarge = (key: string): AppError =>
  new AppError(
    'conflict',
    `The request with the Idempotency-Key ${key} was completed, but its response was too large to keep.`,
  );
