import { NewestMap, NewestSet } from '@belay/protocol';

const windowMs = 60_000;
/** The limit of remembered keys. */
const maxRemembered = 10_000;

/** Counts failed attempts by a key, such as a user’s name. */
export class LoginAttempts {
  readonly #failures = new NewestMap<string, number[]>(maxRemembered);
  readonly #succeeded = new NewestSet<string>(maxRemembered);

  constructor(
    private readonly now: () => number = () => Date.now(),
    private readonly allowed = 20,
  ) {}

  areTooMany(key: string): boolean {
    return this.#recent(key).length >= this.allowed;
  }

  failed(key: string): void {
    this.#failures.set(key, [...this.#recent(key), this.now()].slice(-this.allowed));
  }

  /** Takes back a failure that was counted in advance, because the login succeeded. */
  succeeded(key: string): void {
    this.#failures.set(key, this.#recent(key).slice(0, -1));
    this.#succeeded.add(key);
  }

  /** Whether an attempt has ever succeeded. */
  hasSucceeded(key: string): boolean {
    return this.#succeeded.has(key);
  }

  #recent(key: string): number[] {
    const since = this.now() - windowMs;
    return (this.#failures.get(key) ?? []).filter((time) => time > since);
  }
}
