import { isProcessAlive, type Process } from './process-tree.js';
import { ReadyReports, type Claim } from './ready-reports.js';
import type { SideChannel } from './side-channel.js';

/** The exit code that a shell reports for a command killed by SIGKILL. */
const killedStatus = 137;
const checkIntervalMs = 100;

export interface BackgroundEndEvents {
  /** `disputed` if a process other than the command’s shell reported another exit code. */
  onEnd(status: number, disputed: boolean): void;
  /** Its shell is gone, so no report will follow. */
  onGone(): void;
}

/**
 * Detects the end of one background command. The subshell that runs it, which evaluates none of its text itself,
 * reports the exit code and then waits to be released. A report alone is not trusted, as in `ReadyReports`: it counts
 * once the kernel shows that this process waits. A subshell that ended without waiting was killed, whatever was
 * reported.
 */
export class BackgroundEnd {
  readonly #id: string;
  readonly #channel: SideChannel;
  readonly #reports: ReadyReports;
  #shell: Process | undefined;
  #events: BackgroundEndEvents | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reported = false;
  #ended = false;

  constructor(id: string, channel: SideChannel) {
    this.#id = id;
    this.#channel = channel;
    this.#reports = new ReadyReports({
      waits: () => this.#waits(),
      drain: () => channel.drain(),
      accept: (claim) => this.#end(claim),
    });
  }

  /** Whether its end is being followed. */
  get followed(): boolean {
    return this.#events !== undefined;
  }

  report(status: number): void {
    this.#reported = true;
    if (!this.#ended) this.#reports.add({ kind: 'ready', nonce: '', status, directory: '' });
  }

  /** Called once it is known which process runs the command; undefined if that has already ended. */
  follow(shell: Process | undefined, events: BackgroundEndEvents): void {
    this.#shell = shell;
    this.#events = events;
    this.#timer = setInterval(() => this.check(), checkIntervalMs).unref();
    this.check();
  }

  check(): void {
    if (!this.#events || this.#timer === undefined) return;
    if (this.#shell && isProcessAlive(this.#shell)) {
      if (this.#ended) this.#channel.release(this.#id);
      return;
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (!this.#ended) {
      // An agent that was delayed has not read earlier reports yet.
      this.#channel.drain();
      this.#end({ status: killedStatus, disputed: this.#reported });
    }
    this.#events.onGone();
  }

  close(): void {
    this.#ended = true;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#reports.close();
  }

  #waits(): boolean {
    const shell = this.#shell;
    return shell !== undefined && isProcessAlive(shell) && this.#channel.awaitsRelease(shell.pid);
  }

  #end({ status, disputed }: Pick<Claim, 'status' | 'disputed'>): void {
    this.#ended = true;
    this.#reports.close();
    if (this.#shell && isProcessAlive(this.#shell)) this.#channel.release(this.#id);
    this.#events?.onEnd(status, disputed);
  }
}
