import { AppError } from '@belay/protocol';

/** A part that only a higher layer has, for those below it: that layer registers it before the server serves. */
export class Registered<T> {
  #part: T | undefined;

  register(part: T): void {
    this.#part = part;
  }

  /** Throws `unavailable` while there is none. */
  get part(): T {
    if (this.#part !== undefined) return this.#part;
    throw new AppError('unavailable', 'There are no containers here.');
  }
}
