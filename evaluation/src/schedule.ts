/** Shares the machine's processors and memory: what fits runs, in order, and what needs more than all runs alone. */
export class Machine {
  #cpus = 0;
  #memoryMb = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly total: { cpus: number; memoryMb: number; concurrency: number }) {}

  /** Runs one piece of work when there is room for it. Order is kept: a big one is not overtaken for ever. */
  async with<T>(need: { cpus: number; memoryMb: number }, work: () => Promise<T>): Promise<T> {
    if (this.#waiting.length > 0 || !this.#fits(need))
      await new Promise<void>((ready) => {
        this.#waiting.push(() => {
          if (!this.#fits(need)) return;
          this.#waiting.shift();
          this.#take(need, 1);
          ready();
        });
      });
    else this.#take(need, 1);
    try {
      return await work();
    } finally {
      this.#take(need, -1);
      for (let before = -1; before !== this.#waiting.length;) {
        before = this.#waiting.length;
        this.#waiting[0]?.();
      }
    }
  }

  #fits({ cpus, memoryMb }: { cpus: number; memoryMb: number }): boolean {
    if (this.#running === 0) return true;
    return (
      this.#running < this.total.concurrency &&
      this.#cpus + cpus <= this.total.cpus &&
      this.#memoryMb + memoryMb <= this.total.memoryMb
    );
  }

  #take({ cpus, memoryMb }: { cpus: number; memoryMb: number }, sign: 1 | -1): void {
    this.#cpus += sign * cpus;
    this.#memoryMb += sign * memoryMb;
    this.#running += sign;
  }
}
