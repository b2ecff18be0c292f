import { now, type Origin } from './process-tree.js';

export type Ending = 'exited' | 'timeout' | 'interrupted';

/** One command of a terminal, from its order to its end. */
export class ShellCommand {
  readonly #number: number;
  readonly #started = Date.now();
  readonly #since = now();
  #ended: { status: Ending; exitCode: number | null; to: number; at: number } | undefined;
  /** Calls that wait for its end; at first, the one that started it. */
  watchers = 1;
  /** The reason for ending it, once that has begun. */
  cause: 'timeout' | 'interrupt' | 'kill' | undefined;

  limit: NodeJS.Timeout | undefined;
  /** Why it was killed, if nobody here did. */
  killed: string | undefined;
  /** Explains an exit code when it ends. */
  whyKilled: ((exitCode: number) => string | undefined) | undefined;
  /** Set while all its processes are being ended. */
  killing: Promise<void> | undefined;

  constructor(
    /** The number of its processes; see `processesOf`. */
    number: number,
    readonly text: string,
    readonly background: boolean,
    /** Offset in the terminal of its first byte of output; later than its order if that was repeated. */
    public from: number,
  ) {
    this.#number = number;
  }

  get id(): string {
    return String(this.#number);
  }

  get ended() {
    return this.#ended;
  }

  /** Whether it has ended, and all processes that had to end with it are gone. */
  get settled(): boolean {
    return this.#ended !== undefined && !this.killing;
  }

  get seconds(): number {
    return ((this.#ended?.at ?? Date.now()) - this.#started) / 1000;
  }

  /** Identifies its processes. */
  origin(shell: number | undefined): Origin {
    const numbers = { first: this.#number, last: this.#number };
    return { numbers, shell, since: this.#since };
  }

  end(exitCode: number, to: number): void {
    clearTimeout(this.limit);
    if (this.#ended) return;
    const killed = this.cause === 'timeout' || this.cause === 'kill';
    const status = this.cause === 'timeout' ? 'timeout' : this.cause ? 'interrupted' : 'exited';
    if (!this.cause) this.killed = this.whyKilled?.(exitCode);
    this.#ended = { status, exitCode: killed ? null : exitCode, to, at: Date.now() };
  }
}
