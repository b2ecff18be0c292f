const windowMs = 60_000;
/** The limit of remembered names and addresses. */
const maxRemembered = 10_000;

/** Counts failed logins, by client address or by user name. */
export class LoginAttempts {
  readonly #failures = new Map<string, number[]>();

  constructor(
    private readonly now: () => number = Date.now,
    private readonly allowed = 20,
  ) {}

  areTooMany(from: string): boolean {
    return this.#recent(from).length >= this.allowed;
  }

  failed(from: string): void {
    const recent = [...this.#recent(from), this.now()].slice(-this.allowed);
    this.#failures.delete(from);
    this.#failures.set(from, recent);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > maxRemembered && oldest !== undefined) this.#failures.delete(oldest);
  }

  /** Takes back a failure that was counted in advance, because the login succeeded. */
  succeeded(from: string): void {
    this.#failures.set(from, this.#recent(from).slice(0, -1));
  }

  #recent(from: string): number[] {
    const since = this.now() - windowMs;
    return (this.#failures.get(from) ?? []).filter((time) => time > since);
  }
}
