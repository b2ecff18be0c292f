import type { Changes } from './changes.js';
import type { ShellCommand } from './shell-command.js';
import type { TerminalOutput } from './terminal-output.js';
import type { Process } from './process-tree.js';
import { disputeText } from './prompt.js';
import type { ShellProcess } from './shell-process.js';

/** The number of ended commands that are still reported. */
const keptEnded = 3;

/** What background commands need from their terminal. */
interface BackgroundTerminal {
  readonly output: TerminalOutput;
  readonly changes: Changes;
  /** The living processes of a command. */
  processes(command: ShellCommand): Process[];
  onBackgroundEnd(command: ShellCommand): void;
}

/** The background commands of a terminal, newest last. */
export class BackgroundCommands {
  readonly #terminal: BackgroundTerminal;
  #commands: ShellCommand[] = [];

  constructor(terminal: BackgroundTerminal) {
    this.#terminal = terminal;
  }

  /**
   * Adds a command that its shell has started, and reports its end. `status` is that of a shell that ended meanwhile.
   */
  add(command: ShellCommand, shell: ShellProcess | undefined, status: number): void {
    this.#commands.push(command);
    if (!shell) return command.end(status, this.#terminal.output.end);
    const runner = this.#terminal.processes(command).find(({ parent }) => parent === shell.pid);
    const onEnd = (code: number, disputed: boolean) =>
      void this.#end(command, { code, disputed }).finally(() =>
        shell.discard(`${command.id}-input`),
      );
    shell.follow(command.id, runner, onEnd);
  }

  get newestRunning(): ShellCommand | undefined {
    return this.#commands.findLast(({ ended }) => !ended);
  }

  /** The running commands, and those with a remaining process. */
  living(): ShellCommand[] {
    return this.#commands.filter(
      (command) => !command.ended || this.#terminal.processes(command).length > 0,
    );
  }

  /** The living commands, and the last ones that ended. */
  recent(): ShellCommand[] {
    const living = new Set(this.living());
    const ended = this.#commands.filter((command) => !living.has(command)).slice(-keptEnded);
    this.#commands = this.#commands.filter((one) => living.has(one) || ended.includes(one));
    return this.#commands;
  }

  async #end(
    command: ShellCommand,
    { code, disputed }: { code: number; disputed: boolean },
  ): Promise<void> {
    const { output, changes } = this.#terminal;
    await output.quiet();
    if (disputed && !command.cause) output.print(disputeText(code));
    command.end(code, output.end);
    this.#terminal.onBackgroundEnd(command);
    changes.notify();
  }
}
