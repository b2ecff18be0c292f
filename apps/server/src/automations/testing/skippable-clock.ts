import { Clock } from '../clock.js';

/** A clock that only moves on by itself as real time does, and whose timers end when a test skips to them. */
export class SkippableClock extends Clock {
  readonly #waiting = new Set<{ time: number; work: () => void }>();
  #aheadMs = 0;

  override now(): Date {
    return new Date(Date.now() + this.#aheadMs);
  }

  override at(time: Date, work: () => void): () => void {
    const entry = { time: time.getTime(), work };
    this.#waiting.add(entry);
    if (entry.time <= this.now().getTime()) setImmediate(() => this.#run());
    return () => void this.#waiting.delete(entry);
  }

  /** The number of timers. */
  get timers(): number {
    return this.#waiting.size;
  }

  skip(ms: number): void {
    this.#aheadMs += ms;
    this.#run();
  }

  #run(): void {
    const now = this.now().getTime();
    const due = [...this.#waiting].filter(({ time }) => time <= now);
    for (const entry of due) if (this.#waiting.delete(entry)) entry.work();
  }
}
