import { Logger } from '@nestjs/common';
import { AppError, errorFrom, errorShape } from '@belay/protocol';
import { z } from 'zod';
import type { ExpiringValues, StoredValue } from '../../storage/expiring-values.js';
import { KeyedMutex } from '../../storage/keyed-mutex.js';

export interface KeyedRequest {
  key: string;
  /** Identifies the request by its address and body. */
  fingerprint: string;
  /**
   * The id of what the request would create, for work that finds what exists with its id: then the request can be done
   * again after it was cut off.
   */
  creates?: string | undefined;
}

const outcome = z.object({ value: z.unknown().optional(), error: errorShape.optional() });
type Outcome = z.infer<typeof outcome>;

const storedRequest = z.object({
  fingerprint: z.string(),
  creates: z.string().optional(),
  /** Missing while the request runs, and when the end of its server cut it off. */
  outcome: outcome.optional(),
});
type StoredRequest = z.infer<typeof storedRequest>;

interface Running {
  fingerprint: string;
  /** Undefined if the request may be tried again. */
  outcome: Promise<Outcome | undefined>;
}

/** What `#begin` found: an end, a request that runs, or that this one is to run now. */
type Begun =
  | { outcome: Outcome }
  | { running: Running }
  | { row: StoredValue; stored: StoredRequest; wasCutOff: boolean; end: (end?: Outcome) => void };

export const keptMs = 24 * 3600_000;

/** For one caller. The size is in characters of responses. */
const defaultLimits = { rows: 1_000, size: 8 * 2 ** 20 };

const kind = 'request';

/** Failures after which the work may have been done in part. */
const inDoubt = ['cancelled', 'unavailable', 'disk_full', 'internal'];

/** Failures that leave the work undone or incomplete, so the same request may try again. */
const tryAgain = new Set<string>([
  ...inDoubt,
  'invalid_input',
  'unauthorized',
  'forbidden',
  'conflict',
  'limit_reached',
]);

/**
 * Answers a repeated request with the same key by the first response, instead of running it twice. Each request has a
 * row before its work begins, so that the next server knows which ones were cut off. Responses are kept for a day,
 * encrypted, within limits for each caller: the oldest are dropped.
 */
export class IdempotencyKeys {
  readonly #logger = new Logger('Idempotency');
  /** The requests of this process. All others without an outcome were cut off: one server at a time answers. */
  readonly #running = new Map<string, Running>();
  readonly #beginning = new KeyedMutex();

  constructor(
    private readonly values: ExpiringValues,
    private readonly now: () => number = Date.now,
    private readonly limits = defaultLimits,
  ) {}

  /**
   * Throws `conflict` for a key that another request used, whose response was too large to keep, or whose request was
   * cut off and cannot be repeated. The work gets the id that its first try got.
   */
  async once(
    caller: string,
    request: KeyedRequest,
    work: (creates: string | undefined) => Promise<unknown>,
  ): Promise<{ value: unknown; repeated: boolean }> {
    // The caller is a part of the secret: nobody finds what belongs to another’s key.
    const secret = JSON.stringify([caller, request.key]);
    for (;;) {
      const begun = await this.#beginning.run(secret, () => this.#begin(caller, secret, request));
      if ('end' in begun)
        return { value: await this.#run(caller, request, begun, work), repeated: false };
      const ended = 'outcome' in begun ? begun.outcome : await begun.running.outcome;
      // When a request fails, the first of those waiting for it tries again, and the others wait for that one.
      if (!ended) continue;
      if (ended.error) throw errorFrom(ended.error);
      return { value: ended.value, repeated: true };
    }
  }

  async #begin(caller: string, secret: string, request: KeyedRequest): Promise<Begun> {
    const { key, fingerprint, creates } = request;
    const running = this.#running.get(secret);
    if (running) return { running: sameRequest(running, request) };
    const found = await this.values.find(kind, secret, this.now());
    if (!found) {
      const stored = { fingerprint, creates };
      const expires = this.now() + keptMs;
      const text = JSON.stringify(stored);
      const row = await this.values.add({ kind, secret, owner: caller, text, expires }, this.now());
      if (!row) throw cutOff(key);
      await this.values.limitOf(kind, caller, this.limits);
      return { row, stored, wasCutOff: false, end: this.#started(secret, fingerprint) };
    }
    const stored = sameRequest(storedRequest.parse(JSON.parse(found.text)), request);
    if (stored.outcome) return { outcome: stored.outcome };
    // From now on, what an earlier server may still say about it is ignored.
    const row = stored.creates && (await this.values.replace(found, found.text));
    if (!row) throw cutOff(key);
    return { row, stored, wasCutOff: true, end: this.#started(secret, fingerprint) };
  }

  #started(secret: string, fingerprint: string): (outcome?: Outcome) => void {
    const { promise, resolve } = Promise.withResolvers<Outcome | undefined>();
    this.#running.set(secret, { fingerprint, outcome: promise });
    return (ended) => {
      this.#running.delete(secret);
      resolve(ended);
    };
  }

  async #run(
    caller: string,
    { key }: KeyedRequest,
    { row, stored, wasCutOff, end }: Extract<Begun, { row: StoredValue }>,
    work: (creates: string | undefined) => Promise<unknown>,
  ): Promise<unknown> {
    let ended: Outcome | undefined;
    try {
      const value = await work(stored.creates);
      const size = sizeOf(value);
      const fits = size <= this.limits.size;
      ended = fits ? { value } : { error: tooLarge(key).toJSON() };
      await this.#keep(caller, {
        row,
        stored: { ...stored, outcome: ended },
        size: fits ? size : 0,
      });
      return value;
    } catch (error) {
      const code = error instanceof AppError ? error.code : 'internal';
      if (error instanceof AppError && !tryAgain.has(code)) {
        ended = { error: error.toJSON() };
        await this.#keep(caller, { row, stored: { ...stored, outcome: ended }, size: 0 });
        throw error;
      }
      // The next try gets the same id if this one, or one that was cut off, may have created something.
      const keepsId = stored.creates !== undefined && (wasCutOff || inDoubt.includes(code));
      if (!keepsId) await this.#noted(() => this.values.remove(row));
      throw error;
    } finally {
      end(ended);
    }
  }

  /** The caller gets its response also if it cannot be stored; a repetition then learns that nothing is known. */
  #keep(
    caller: string,
    { row, stored, size }: { row: StoredValue; stored: StoredRequest; size: number },
  ): Promise<void> {
    return this.#noted(async () => {
      await this.values.replace(row, JSON.stringify(stored), size);
      await this.values.limitOf(kind, caller, this.limits);
    });
  }

  async #noted(work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => this.#logger.error(errorFrom(error).message));
  }
}

const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

function sameRequest<T extends { fingerprint: string }>(known: T, request: KeyedRequest): T {
  if (known.fingerprint === request.fingerprint) return known;
  throw new AppError(
    'conflict',
    `The Idempotency-Key ${request.key} was used for another request. Make a new one.`,
  );
}

const tooLarge = (key: string): AppError =>
  new AppError(
    'conflict',
    `The request with the Idempotency-Key ${key} was completed, but its response was too large to keep.`,
  );

const cutOff = (key: string): AppError =>
  new AppError(
    'conflict',
    `The request with the Idempotency-Key ${key} was cut off when the server ended, and it is not known whether its work was done. Look, then use a new key.`,
  );
