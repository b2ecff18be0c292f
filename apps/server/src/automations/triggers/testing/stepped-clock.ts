import { Clock } from '../../clock.js';

/** A clock that goes on only when it is told to. */
export class SteppedClock extends Clock {
  #now: number;
  #timers: { time: number; work: () => void }[] = [];

  constructor(start = '2026-03-01T12:00:00.000Z') {
    super();
    this.#now = Date.parse(start);
  }

  override now(): Date {
    return new Date(this.#now);
  }

  override at(time: Date, work: () => void): () => void {
    const timer = { time: time.getTime(), work };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  /** Moves to a time, firing each timer at its own; `settled` is awaited after each one. */
  async to(time: Date | string, settled: () => Promise<void> = async () => {}): Promise<void> {
    const end = new Date(time).getTime();
    for (;;) {
      const [next] = this.#timers.toSorted((a, b) => a.time - b.time);
      if (!next || next.time > end) break;
      this.#timers = this.#timers.filter((each) => each !== next);
      this.#now = Math.max(this.#now, next.time);
      next.work();
      await settled();
    }
    this.#now = end;
    await settled();
  }

  async forward(ms: number, settled?: () => Promise<void>): Promise<void> {
    await this.to(new Date(this.#now + ms), settled);
  }

  /** Without firing anything, as when the server was down. */
  jump(ms: number): void {
    this.#now += ms;
    this.#timers = [];
  }
}
