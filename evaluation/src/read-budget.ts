import { Refused } from './refused.js';

const MiB = 2 ** 20;

/**
 * Limits the data collected from containers for one step of a trial. Bytes count as they are read,
 * because a sparse file costs a container nothing and may have any size.
 */
export class ReadBudget {
  readonly #total: number;
  #bytes: number;
  #entries: number;

  constructor({ bytes = 256 * MiB, entries = 100_000 } = {}) {
    this.#total = bytes;
    this.#bytes = bytes;
    this.#entries = entries;
  }

  takeBytes(bytes: number, name: string): void {
    this.#bytes -= bytes;
    if (this.#bytes >= 0) return;
    const limit = `${Math.round(this.#total / MiB)} MiB`;
    throw new Refused(
      `The agent left more than ${limit}, which is too much to collect: ${name.slice(0, 200)}.`,
    );
  }

  takeEntry(): void {
    this.#entries -= 1;
    if (this.#entries < 0) throw new Refused('The agent left too many files to collect.');
  }
}
