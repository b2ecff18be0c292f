/** Amounts per second, with the same amount allowed at once (a token bucket). */
export class Rate<K extends string> {
  readonly #perSecond: Readonly<Record<K, number>>;
  readonly #left: Record<K, number>;
  #at = performance.now();

  constructor(perSecond: Readonly<Record<K, number>>) {
    this.#perSecond = perSecond;
    this.#left = { ...perSecond };
  }

  /** Takes the amounts in any case; returns the milliseconds until all balances are positive, 0 if they are. */
  take(amounts: Readonly<Record<K, number>>): number {
    const now = performance.now();
    const seconds = (now - this.#at) / 1000;
    this.#at = now;
    let wait = 0;
    for (const key of Object.keys(amounts) as K[]) {
      const most = this.#perSecond[key];
      this.#left[key] = Math.min(most, this.#left[key] + seconds * most) - amounts[key];
      if (this.#left[key] < 0) wait = Math.max(wait, (-this.#left[key] / most) * 1000);
    }
    return Math.ceil(wait);
  }
}
