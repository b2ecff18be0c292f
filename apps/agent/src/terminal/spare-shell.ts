import { ProcessNumbers } from './process-numbers.js';
import { Shell, usualSize, type ShellEvents } from './shell.js';

/** More output than this is no start of a shell. */
const mostEarly = 64 * 1024;

/** A shell that was started before its terminal, which then hears first what the shell said until it came. */
export class SpareShell {
  /** For the terminal that takes it. */
  readonly numbers = new ProcessNumbers();
  readonly #shell: Promise<Shell>;
  #early: ((events: ShellEvents) => void)[] = [];
  #earlyBytes = 0;
  #events: ShellEvents | undefined;
  #ended = false;

  constructor(options: { folder: string; cwd: string; env: Record<string, string> }) {
    const tell = (event: (events: ShellEvents) => void) => {
      if (this.#events) event(this.#events);
      else this.#early.push(event);
    };
    this.#shell = Shell.open({
      ...options,
      ...usualSize,
      number: this.numbers.first,
      plain: false,
      onOutput: (bytes, torn) => {
        this.#count(bytes.length);
        const kept = this.#events ? bytes : Buffer.from(bytes);
        tell((events) => events.onOutput(kept, torn));
      },
      onMark: () => tell((events) => events.onMark()),
      onIdle: (status, directory) => tell((events) => events.onIdle(status, directory)),
      onPrompt: () => tell((events) => events.onPrompt()),
      onDirectory: (directory) => tell((events) => events.onDirectory(directory)),
      onExit: (end) => {
        this.#ended = true;
        tell((events) => events.onExit(end));
      },
    });
    this.#shell.catch(() => (this.#ended = true));
  }

  /** False once it has ended, or when it could not be started. */
  get usable(): boolean {
    return !this.#ended;
  }

  /** Hands it over: `take` is given the shell before `events` hear of it. Rejects when it could not be started. */
  async adopt(events: ShellEvents, take: (shell: Shell) => void): Promise<void> {
    take(await this.#shell);
    this.#events = events;
    for (const event of this.#early.splice(0)) event(events);
  }

  /** Ends one that nobody took. */
  async close(): Promise<void> {
    this.#ended = true;
    await this.#shell.then((shell) => shell.kill('SIGKILL')).catch(() => undefined);
  }

  /** One that floods before anybody asked for it is not kept. */
  #count(bytes: number): void {
    if (this.#events) return;
    this.#earlyBytes += bytes;
    if (this.#earlyBytes <= mostEarly || this.#ended) return;
    this.#early = [];
    void this.close();
  }
}
