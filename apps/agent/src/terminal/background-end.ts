import { isProcessAlive, type Process } from './process-tree.js';
import { ReadyReports, type Claim } from './ready-reports.js';
import type { SideChannel } from './side-channel.js';

/** The exit code that a shell gives what was killed by SIGKILL. */
const killedStatus = 137;
const checkIntervalMs = 100;

export interface BackgroundEndEvents {
  /** `disputed` when something else reported another exit code in the place of the command’s shell. */
  onEnd(status: number, disputed: boolean): void;
  /** Its shell is gone: nothing more comes of it. */
  onGone(): void;
}

/**
 * The end of one background command. The subshell that runs it, which evaluates none of its text itself, reports the
 * exit code and then waits to be released. A report alone is a claim, as in `ReadyReports`: it counts once the kernel
 * shows that this process waits. One that is gone without having waited was killed, whatever was reported.
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

  /** Whether somebody follows it. */
  get followed(): boolean {
    return this.#events !== undefined;
  }

  report(status: number): void {
    this.#reported = true;
    if (!this.#ended) this.#reports.add({ kind: 'ready', nonce: '', status, directory: '' });
  }

  /** Once it is known which process runs the command; undefined when it is gone already. */
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
      // An agent that was held up has not read yet what was reported before.
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
