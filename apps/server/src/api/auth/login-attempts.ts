const windowMs = 60_000;
/** The limit of remembered keys. */
const maxRemembered = 10_000;

/** Counts failed attempts by a key, such as a user’s name. */
export class LoginAttempts {
  readonly #failures = new Map<string, number[]>();
  readonly #succeeded = new Set<string>();

  constructor(
    private readonly now: () => number = Date.now,
    private readonly allowed = 20,
  ) {}

  areTooMany(key: string): boolean {
    return this.#recent(key).length >= this.allowed;
  }

  failed(key: string): void {
    const recent = [...this.#recent(key), this.now()].slice(-this.allowed);
    this.#failures.delete(key);
    this.#failures.set(key, recent);
    dropOldest(this.#failures);
  }

  /** Takes back a failure that was counted in advance, because the login succeeded. */
  succeeded(key: string): void {
    this.#failures.set(key, this.#recent(key).slice(0, -1));
    this.#succeeded.delete(key);
    this.#succeeded.add(key);
    dropOldest(this.#succeeded);
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

function dropOldest(kept: Map<string, unknown> | Set<string>): void {
  const [oldest] = kept.keys();
  if (kept.size > maxRemembered && oldest !== undefined) kept.delete(oldest);
}
