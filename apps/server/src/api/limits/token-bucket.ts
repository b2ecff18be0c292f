/** The number allowed at once, and per second after that. */
export interface RequestRate {
  burst: number;
  perSecond: number;
}

/** Enforces a rate. */
export class TokenBucket {
  readonly #rate: RequestRate;
  readonly #now: () => number;
  #left: number;
  #at: number;

  constructor(rate: RequestRate, now: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#now = now;
    this.#left = rate.burst;
    this.#at = now();
  }

  /** Takes one token and returns 0, or takes none and returns the seconds until there is one. */
  take(): number {
    const { burst, perSecond } = this.#rate;
    const now = this.#now();
    this.#left = Math.min(burst, this.#left + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    if (this.#left < 1) return (1 - this.#left) / perSecond;
    this.#left -= 1;
    return 0;
  }
}
