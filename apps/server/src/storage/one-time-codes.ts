import { z } from 'zod';
import type { ExpiringKind, ExpiringValues } from './expiring-values.js';
import { randomSecret } from './secrets.js';

/** Beyond it, the oldest code of the owner with the most is dropped. */
const defaultMax = 1_000;

/** Values by a code, which can be taken once, within a time: in the database, for whichever server is asked then. */
export class OneTimeCodes<T> {
  readonly #content;
  /** When an owner’s codes ended: void are also those that are just being stored, or could not be removed. */
  readonly #ended = new Map<string | undefined, number>();
  #lastTime = 0;

  constructor(
    private readonly values: ExpiringValues,
    private readonly kind: ExpiringKind,
    schema: z.ZodType<T>,
    private readonly max = defaultMax,
  ) {
    this.#content = z.object({ value: schema, made: z.number() });
  }

  /** Returns the code. */
  async put(value: T, owner: string, lifeMs: number): Promise<string> {
    const secret = randomSecret();
    const { kind } = this;
    const text = JSON.stringify({ value, made: this.#nextTime() });
    await this.values.add({ kind, secret, owner, text, expires: Date.now() + lifeMs });
    await this.values.limitAll(kind, this.max);
    return secret;
  }

  /** Undefined for a code that is unknown, used or expired. It is used up in any case. */
  async take(code: string): Promise<T | undefined> {
    const taken = await this.values.take(this.kind, code);
    if (!taken) return undefined;
    const { value, made } = this.#content.parse(JSON.parse(taken.text));
    const ended = [undefined, taken.owner].map((owner) => this.#ended.get(owner) ?? -Infinity);
    return made > Math.max(...ended) ? value : undefined;
  }

  /** Ends all codes, or those of one owner. They are void even if it throws because that cannot be stored. */
  async clear(owner?: string): Promise<void> {
    this.#ended.set(owner, this.#nextTime());
    await this.values.clear(this.kind, owner);
  }

  /** Also within a millisecond, each is later than the one before. */
  #nextTime(): number {
    this.#lastTime = Math.max(Date.now(), this.#lastTime + 1);
    return this.#lastTime;
  }
}
