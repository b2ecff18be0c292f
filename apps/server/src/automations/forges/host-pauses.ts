import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { Clock } from '../clock.js';

/** The git hosts that want no requests for a while, so that no automation goes on asking what another was refused. */
@Injectable()
export class HostPauses {
  readonly #until = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** Throws `limit_reached` while the host wants no requests. */
  check(host: string): void {
    const until = this.#until.get(host);
    if (until === undefined) return;
    const retryAfterMs = until - this.clock.now().getTime();
    if (retryAfterMs <= 0) {
      this.#until.delete(host);
      return;
    }
    throw new AppError(
      'limit_reached',
      `${host} wants no requests for ${Math.ceil(retryAfterMs / 1000)} seconds.`,
      { host, retryAfterMs },
    );
  }

  /** Takes the time from an error of the host, if it has one. */
  note(host: string, error: AppError): void {
    const wait = error.details?.['retryAfterMs'];
    if (error.code !== 'limit_reached' || typeof wait !== 'number') return;
    this.#until.set(host, this.clock.now().getTime() + wait);
  }
}
