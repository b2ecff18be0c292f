import { AppError } from '@belay/protocol';

/**
 * The right of this process to work on sessions of the database, and to lead its servers. A server that shares its
 * database renews it again and again, also while another one leads; a server that works alone has it for good.
 */
class Lease {
  #until = Infinity;
  #isHeld = true;

  /** Whether this server leads. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** As one of several: it does not lead until `hold`, and does nothing until then or until `renew`. */
  standBy(): void {
    this.#isHeld = false;
    this.#until = -Infinity;
  }

  /** This server leads from now on. */
  hold(): void {
    this.#isHeld = true;
    this.#until = Infinity;
  }

  /** Until this time of `performance.now()`, which does not jump. */
  renew(until: number): void {
    this.#until = until;
  }

  /**
   * Throws `unavailable` when another server may work on this one’s sessions by now: this process may have been stopped
   * for a while, and go on with what it was about to do.
   */
  assertHeld(): void {
    if (performance.now() <= this.#until) return;
    throw new AppError('unavailable', 'Another server takes the place of this one: try again.');
  }
}

export const lease = new Lease();
