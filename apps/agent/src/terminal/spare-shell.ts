import { ignoreError } from '@belay/protocol';
import { ProcessNumbers } from './process-numbers.js';
import { ShellProcess, usualSize, type ShellEvents } from './shell-process.js';

/** A shell that prints more than this at its start is ended. */
const maxEarlyBytes = 64 * 1024;

/** A shell that was started before its terminal; the terminal then gets its earlier events first. */
export class SpareShell {
  /** For the terminal that adopts it. */
  readonly numbers = new ProcessNumbers();
  readonly #shell: Promise<ShellProcess>;
  #early: ((events: ShellEvents) => void)[] = [];
  #earlyBytes = 0;
  #events: ShellEvents | undefined;
  #ended = false;

  constructor(options: { folder: string; cwd: string; env: Record<string, string> }) {
    const forward = (event: (events: ShellEvents) => void) => {
      if (this.#events) event(this.#events);
      else this.#early.push(event);
    };
    this.#shell = ShellProcess.open({
      ...options,
      ...usualSize,
      number: this.numbers.first,
      plain: false,
      onOutput: (bytes, partialLine) => {
        this.#count(bytes.length);
        const kept = this.#events ? bytes : Buffer.from(bytes);
        forward((events) => events.onOutput(kept, partialLine));
      },
      onMark: () => forward((events) => events.onMark()),
      onIdle: (...idle) => forward((events) => events.onIdle(...idle)),
      onPrompt: () => forward((events) => events.onPrompt()),
      onDirectory: (directory) => forward((events) => events.onDirectory(directory)),
      onExit: (end) => {
        this.#ended = true;
        forward((events) => events.onExit(end));
      },
    });
    this.#shell.catch(() => (this.#ended = true));
  }

  /** False when it has ended or could not be started. */
  get usable(): boolean {
    return !this.#ended;
  }

  /**
   * Passes it to a terminal: `take` is called with the shell before `events` are. Rejects when it could not be
   * started.
   */
  async adopt(events: ShellEvents, take: (shell: ShellProcess) => void): Promise<void> {
    take(await this.#shell);
    this.#events = events;
    for (const event of this.#early.splice(0)) event(events);
  }

  /** Ends a shell that was not adopted. */
  async close(): Promise<void> {
    this.#ended = true;
    await this.#shell.then((shell) => shell.kill('SIGKILL')).catch(ignoreError('it never started'));
  }

  /** Ends a shell that prints too much before it is adopted. */
  #count(bytes: number): void {
    if (this.#events) return;
    this.#earlyBytes += bytes;
    if (this.#earlyBytes <= maxEarlyBytes || this.#ended) return;
    this.#early = [];
    void this.close();
  }
}
