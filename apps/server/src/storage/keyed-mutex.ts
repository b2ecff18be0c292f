import { Mutex } from 'async-mutex';

/** A mutex for each key, as long as it is needed. */
export class KeyedMutex {
  readonly #mutexes = new Map<string, Mutex>();

  /** Whether work of this key runs or waits. */
  isBusy(key: string): boolean {
    return this.#mutexes.has(key);
  }

  /** Runs after all earlier work of the same key, also after what failed. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mutex = this.#mutexes.get(key) ?? new Mutex();
    this.#mutexes.set(key, mutex);
    try {
      return await mutex.runExclusive(work);
    } finally {
      if (!mutex.isLocked()) this.#mutexes.delete(key);
    }
  }
}
