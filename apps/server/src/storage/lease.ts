import { AppError } from '@belay/protocol';

/**
 * The right of this process to work on the sessions of the database. A server that shares its database renews it again
 * and again; all others have it for good.
 */
class Lease {
  #until = Infinity;
  #isHeld = true;

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Until this server has it, as one of several. */
  standBy(): void {
    this.#isHeld = false;
  }

  /** This server leads from now on. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Until this time of `performance.now()`, which does not jump. */
  renew(until: number): void {
    this.#until = until;
  }

  /**
   * Throws `unavailable` when another server may have it by now: this process may have been stopped for a while, and go on
   * with what it was about to do.
   */
  assertHeld(): void {
    if (this.#isHeld && performance.now() <= this.#until) return;
    throw new AppError('unavailable', 'Another server takes the place of this one: try again.');
  }
}

export const lease = new Lease();
