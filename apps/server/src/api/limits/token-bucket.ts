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

  /** Takes tokens, at most a full burst, and returns 0; or takes none and returns the seconds until there are as many. */
  take(count = 1): number {
    const { burst, perSecond } = this.#rate;
    const now = this.#now();
    this.#left = Math.min(burst, this.#left + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    const wanted = Math.min(count, burst);
    if (this.#left < wanted) return (wanted - this.#left) / perSecond;
    this.#left -= wanted;
    return 0;
  }
}
