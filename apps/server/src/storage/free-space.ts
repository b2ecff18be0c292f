import { statfs } from 'node:fs/promises';
import { AppError } from '@belay/protocol';
import type { Config } from '../config.js';

/** Milliseconds for which a measurement of free space is used. */
const freshMs = 1_000;

/** Keeps part of the data folder’s disk free of data from sandboxes, so that the user and the server can continue. */
export class FreeSpace {
  readonly #folder: string;
  readonly #least: number;
  #looked = -Infinity;
  #free = Infinity;

  constructor({ data, keepFreeBytes }: Pick<Config, 'data' | 'keepFreeBytes'>) {
    this.#folder = data;
    this.#least = keepFreeBytes;
  }

  /** Throws `disk_full` when less than the reserve is free. */
  async require(): Promise<void> {
    if (performance.now() - this.#looked > freshMs) await this.#look();
    if (this.#free >= this.#least) return;
    throw new AppError(
      'disk_full',
      `Less than ${Math.round(this.#least / 2 ** 20)} MiB are free in the data folder: free some space there.`,
    );
  }

  async #look(): Promise<void> {
    this.#looked = performance.now();
    const found = await statfs(this.#folder).catch(() => undefined);
    this.#free = found ? found.bavail * found.bsize : Infinity;
  }
}
