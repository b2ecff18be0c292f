import { randomInt } from 'node:crypto';

const perTerminal = 2 ** 20;

/** A limit below this was not set by the agent. */
export const leastNumber = perTerminal;

/** The numbers of one terminal, unique among terminals; they identify its processes, see `processesOf`. */
export class ProcessNumbers {
  /** The number of the terminal’s shells, and of programs that the user starts there. */
  readonly first = randomInt(1, 2 ** 32) * perTerminal;
  readonly last = this.first + perTerminal - 1;
  #count = 0;

  /** The number for a new command; it repeats after a million commands. */
  next(): number {
    this.#count = (this.#count % (perTerminal - 1)) + 1;
    return this.first + this.#count;
  }
}
