const windowMs = 60_000;
/** Names and addresses that are remembered at once. */
const maxRemembered = 10_000;

/** Failed attempts to log in, by the address that they come from, or by the name that they try. */
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

  /** What was counted as a failure before it was known how it would end has succeeded. */
  succeeded(from: string): void {
    this.#failures.set(from, this.#recent(from).slice(0, -1));
  }

  #recent(from: string): number[] {
    const since = this.now() - windowMs;
    return (this.#failures.get(from) ?? []).filter((time) => time > since);
  }
}
