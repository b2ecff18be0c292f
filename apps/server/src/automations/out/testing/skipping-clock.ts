import { Clock } from '../../clock.js';

/** Stands still until it is told to go on. */
export class SkippingClock extends Clock {
  #now = Date.UTC(2026, 0, 1);

  override now(): Date {
    return new Date(this.#now);
  }

  skip(ms: number): void {
    this.#now += ms;
  }
}
