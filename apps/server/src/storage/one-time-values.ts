import { mostCrowded } from './most-crowded.js';
import { hashOfSecret, randomSecret } from './secrets.js';

/** The default limit; beyond it, the oldest value of the owner with the most is dropped. */
const defaultMax = 1_000;

/** Values kept in memory by a secret: each can be taken once, within a time. */
export class OneTimeValues<T> {
  readonly #waiting = new Map<string, { value: T; owner: string; expires: number }>();

  constructor(
    private readonly lifeMs: number,
    private readonly max = defaultMax,
  ) {}

  /** Returns the secret. */
  put(value: T, owner: string, { secret = randomSecret(), lifeMs = this.lifeMs } = {}): string {
    const now = Date.now();
    for (const [key, { expires }] of this.#waiting) if (expires <= now) this.#waiting.delete(key);
    this.#waiting.set(hashOfSecret(secret), { value, owner, expires: now + lifeMs });
    if (this.#waiting.size > this.max) {
      const [key] = mostCrowded([...this.#waiting], ([, kept]) => kept.owner) ?? [];
      if (key !== undefined) this.#waiting.delete(key);
    }
    return secret;
  }

  /** Undefined for a secret that is unknown, used or expired. The secret is used up in any case. */
  take(secret: string): T | undefined {
    const key = hashOfSecret(secret);
    const found = this.#waiting.get(key);
    this.#waiting.delete(key);
    return found && found.expires > Date.now() ? found.value : undefined;
  }

  /** Removes all values, or those that match. */
  clear(isOver: (value: T) => boolean = () => true): void {
    for (const [key, { value }] of this.#waiting) if (isOver(value)) this.#waiting.delete(key);
  }
}
