import { AppError, NewestMap } from '@belay/protocol';

/** The outcome of an earlier request with a key. */
type Outcome = { ended: true; value?: unknown; error?: AppError } | { ended: false };

interface Kept {
  /** Identifies the request by its address and body. */
  fingerprint: string;
  expires: number;
  outcome: Promise<Outcome>;
  /** Characters of the response; 0 while the request runs. */
  size: number;
}

const limits = {
  keptMs: 24 * 3600_000,
  callers: 1_000,
  /** Limits for one caller. */
  keys: 1_000,
  size: 8 * 2 ** 20,
};

/** Failures that leave the work undone or incomplete, so the same request may try again. */
const tryAgain = new Set<string>([
  'invalid_input',
  'unauthorized',
  'forbidden',
  'conflict',
  'limit_reached',
  'cancelled',
  'unavailable',
  'disk_full',
  'internal',
]);

/**
 * Answers a repeated request with the same key by the first response, instead of running it twice. Responses are kept
 * in memory for a day, within limits for each caller: the oldest are dropped.
 */
export class IdempotencyKeys {
  readonly #callers = new NewestMap<string, Map<string, Kept>>(limits.callers);

  constructor(private readonly now: () => number = Date.now) {}

  /** Throws `conflict` for a key that another request used, or whose response was too large to keep. */
  async once(
    caller: string,
    { key, fingerprint }: { key: string; fingerprint: string },
    work: () => Promise<unknown>,
  ): Promise<{ value: unknown; repeated: boolean }> {
    const known = this.#find(caller, key);
    if (known) {
      if (known.fingerprint !== fingerprint) throw other(key);
      const outcome = await known.outcome;
      // When a request fails, the first of those waiting for it tries again, and the others wait for that one.
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
    this.#callers.set(caller, keys.set(key, kept));
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
