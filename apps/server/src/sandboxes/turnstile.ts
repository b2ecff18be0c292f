/** Lets a bounded number of works run at once; the others follow in their order. */
export class Turnstile {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly places: number) {}

  /** Works that run or wait. */
  get size(): number {
    return this.running + this.waiting.length;
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.places) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else this.running++;
    try {
      return await work();
    } finally {
      // The place is handed on, so that nobody slips in between.
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }
}
