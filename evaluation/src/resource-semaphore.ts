/**
 * A semaphore over processors, memory and the number of trials: work runs in order as soon as it
 * fits; work that needs more than the total runs alone. (The semaphore of async-mutex has only one
 * weight.)
 */
export class ResourceSemaphore {
  #cpus = 0;
  #memoryMb = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  readonly #total: { cpus: number; memoryMb: number; concurrency: number };

  constructor(total: { cpus: number; memoryMb: number; concurrency: number }) {
    this.#total = total;
  }

  /**
   * Runs `work` when its resources are free. First come, first served: small work does not
   * overtake.
   */
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
      this.#running < this.#total.concurrency &&
      this.#cpus + cpus <= this.#total.cpus &&
      this.#memoryMb + memoryMb <= this.#total.memoryMb
    );
  }

  #take({ cpus, memoryMb }: { cpus: number; memoryMb: number }, sign: 1 | -1): void {
    this.#cpus += sign * cpus;
    this.#memoryMb += sign * memoryMb;
    this.#running += sign;
  }
}
