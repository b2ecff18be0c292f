import {
  callOf,
  excerpt,
  outputOf,
  runResultOf,
  type Event,
  type EventArgs,
} from '@belay/protocol';

/** A command that has not ended, as far as the model was told. */
export interface RunningCommand {
  readonly command: string;
  readonly terminal: string;
  /** The directory of its shell. */
  readonly directory: string;
  readonly background: boolean;
}

/** The agent’s terminals and what runs in them, as part of a conversation’s fold. */
export class Shells {
  #running: readonly RunningCommand[] = [];
  /** The directories of the terminals, by name. */
  readonly #directories = new Map<string, string>();

  /** A copy that continues independently. */
  fork(): Shells {
    const fork = new Shells();
    fork.#running = this.#running;
    for (const [terminal, directory] of this.#directories)
      fork.#directories.set(terminal, directory);
    return fork;
  }

  get running(): readonly RunningCommand[] {
    return this.#running;
  }

  get directories(): ReadonlyMap<string, string> {
    return this.#directories;
  }

  /** Records the result of a call of the model. */
  see(call: Event | undefined, result: EventArgs<'result'>): void {
    if (call && outputOf('terminal.close', result)) this.#close(call);
    const ran = runResultOf(result);
    if (!ran) return;
    const { terminal, status, directory } = ran;
    const started = call && callOf(call, 'terminal.run');
    this.#directories.set(terminal, directory);
    const background = status === 'background' || (started?.args.background ?? false);
    // A shell runs one command at a time beside those in the background.
    if (started && !background)
      this.#running = this.#running.filter((one) => one.terminal !== terminal || one.background);
    const command = ran.command ?? started?.args.command;
    if (command === undefined) return;
    this.end({ terminal, command });
    if (status !== 'background' && status !== 'running') return;
    this.#running = [...this.#running, { command, terminal, directory, background }];
  }

  /** Records the end of a command. */
  end({ terminal, command }: Pick<EventArgs<'exit'>, 'terminal' | 'command'>): void {
    this.#running = this.#running.filter(
      (one) => one.terminal !== terminal || !isSame(one.command, command),
    );
  }

  /** All commands were killed, because the session was stopped or has reached a limit. */
  stop(): void {
    this.#running = [];
  }

  /** A new agent has new terminals. */
  clear(): void {
    this.#running = [];
    this.#directories.clear();
  }

  #close(call: Event): void {
    const terminal = callOf(call, 'terminal.close')?.args.terminal ?? '';
    this.#directories.delete(terminal);
    this.#running = this.#running.filter((one) => one.terminal !== terminal);
  }
}

/** Long commands are shortened in events and results, to different lengths. */
function isSame(a: string, b: string): boolean {
  const known = Math.min(a.length, b.length);
  return excerpt(a, known) === excerpt(b, known);
}
