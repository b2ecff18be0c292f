import { randomInt } from 'node:crypto';

const perTerminal = 2 ** 20;

/** A limit below this was set by somebody else. */
export const leastNumber = perTerminal;

/** The numbers of one terminal, which no other terminal has: by them its processes are known, see `processesOf`. */
export class ProcessNumbers {
  /** That of its shells, and of the programs that the user starts there. */
  readonly first = randomInt(1, 2 ** 32) * perTerminal;
  readonly last = this.first + perTerminal - 1;
  #count = 0;

  /** For a new command; a million commands later it comes again. */
  next(): number {
    this.#count = (this.#count % (perTerminal - 1)) + 1;
    return this.first + this.#count;
  }
}
