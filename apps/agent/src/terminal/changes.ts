import { expireAfterReading } from '@belay/rpc';

/** Lets callers wait for a condition on state whose owner calls `notify` after each change. */
export class Changes {
  readonly #waiting = new Set<() => void>();

  notify(): void {
    for (const check of this.#waiting) check();
  }

  /**
   * Resolves to whether the condition came true within `ms`; at once when it is true, or when `signal` aborts. What came
   * while this process was kept waiting is read first.
   */
  until(condition: () => boolean, ms: number, signal?: AbortSignal): Promise<boolean> {
    if (condition() || signal?.aborted) return Promise.resolve(condition());
    return new Promise((resolve) => {
      const finish = (value: boolean) => {
        cancelLimit();
        this.#waiting.delete(check);
        signal?.removeEventListener('abort', aborted);
        resolve(value);
      };
      const check = () => condition() && finish(true);
      const aborted = () => finish(condition());
      // A longer delay would overflow the timer and fire at once.
      const cancelLimit = expireAfterReading(Math.min(ms, 2 ** 31 - 1), () => finish(condition()));
      this.#waiting.add(check);
      signal?.addEventListener('abort', aborted);
    });
  }
}
