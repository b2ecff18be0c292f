/** What may come at once, and each second from then on. */
export interface RequestRate {
  burst: number;
  perSecond: number;
}

/** Counts what comes against a rate. */
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

  /** Takes one, and returns 0; or takes none, and returns after how many seconds there is one. */
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
