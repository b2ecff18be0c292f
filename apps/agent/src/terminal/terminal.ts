import { AppError } from '@belay/protocol';
import { MemoryKills } from '../memory-kills.js';
import { isThere } from '../permissions.js';
import { BackgroundCommands } from './background-commands.js';
import { Changes } from './changes.js';
import { ShellCommand } from './shell-command.js';
import { commandSource } from './command-source.js';
import { endCommand } from './end-command.js';
import { endProcesses } from './end-processes.js';
import { isProcessLimit, retryFork } from './fork-retry.js';
import { killedText } from './killed-text.js';
import { LoopReturn } from './loop-return.js';
import type { OpenStream } from './outlet.js';
import { TerminalOutput } from './terminal-output.js';
import { ProcessNumbers } from './process-numbers.js';
import { processesFrom, type Process } from './process-tree.js';
import { disputeText, promptText } from './prompt.js';
import { ShellProcess, usualSize, type ShellEvents } from './shell-process.js';
import type { SpareShell } from './spare-shell.js';

/** How long a shell may take to report the end of its command. */
const endTimeoutMs = 10_000;
/** The number of times that a shell is started before the agent gives up. */
const attempts = 3;
/** The interval at which a running command’s directory is read. */
const watchIntervalMs = 250;

export interface TerminalOptions {
  name: string;
  folder: string;
  workspace: string;
  env: Record<string, string>;
  /** The offset of the first byte; the server has stored earlier ones under this name. */
  start: number;
  openStream: OpenStream;
  /** A background command has ended, and no call of the agent is waiting for it. */
  onBackgroundEnd(terminal: Terminal, command: ShellCommand): void;
  memoryKills?: MemoryKills | undefined;
  /** Its first shell, if one was started in advance. */
  spare?: SpareShell | undefined;
}

/** A named terminal: successive shells, one scrollback, one owner of the input. */
export class Terminal {
  readonly changes = new Changes();
  readonly output: TerminalOutput;
  columns: number = usualSize.columns;
  rows: number = usualSize.rows;
  holder: 'agent' | 'user' = 'agent';
  directory: string;
  /** The foreground command. */
  current: ShellCommand | undefined;
  /** The last command that was started here. */
  latest: ShellCommand | undefined;
  readonly background = new BackgroundCommands(this);
  closed = false;
  /** Whether it failed because no process could be started. */
  atProcessLimit = false;
  readonly #options: TerminalOptions;
  readonly #numbers: ProcessNumbers;
  readonly #memoryKills: MemoryKills;
  #shell: ShellProcess | undefined;
  /** Whether the shell waits for an order. */
  #idle = false;
  /** Whether the shell shows its own prompt, for the user. */
  #released = false;
  /** The user’s keystrokes from before a shell existed. */
  #earlyInput = '';
  readonly #loopReturn = new LoopReturn(() => (this.closed ? undefined : this.#shell));
  #markAt: number | undefined;
  readonly #watch: NodeJS.Timeout;
  #failures = 0;

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#numbers = options.spare?.numbers ?? new ProcessNumbers();
    this.#memoryKills = options.memoryKills ?? new MemoryKills();
    this.directory = options.workspace;
    this.output = new TerminalOutput({
      terminal: options.name,
      start: options.start,
      openStream: options.openStream,
      changes: this.changes,
      onHold: (held) => this.#shell?.hold(held),
    });
    // A shell that was killed or replaced by a program can no longer report its directory.
    this.#watch = setInterval(
      () => (this.directory = this.currentDirectory),
      watchIntervalMs,
    ).unref();
    void this.#open(options.spare);
  }

  get name(): string {
    return this.#options.name;
  }

  /** Whether the shell accepts a command now. */
  get free(): boolean {
    return this.#idle && !this.output.hasPartialLine && !this.current && this.holder === 'agent';
  }

  /** Whether a program that the user started is in the foreground. */
  get runsUserProgram(): boolean {
    return this.#released && !this.current && this.#shell?.inFront === false;
  }

  /** True after failures, because a user’s start-up file that ends each shell must not lock out the agent. */
  get #plain(): boolean {
    return this.#failures === attempts - 1;
  }

  get broken(): boolean {
    return this.#failures >= attempts;
  }

  /** The shell’s current directory, also while a command runs. */
  get currentDirectory(): string {
    return (this.current && this.#shell?.directory) || this.directory;
  }

  /** Gives a command to the shell; only when `free`. */
  start(
    text: string,
    options: { background: boolean; stdin?: Uint8Array | undefined; timeout?: number | undefined },
  ): ShellCommand {
    const shell = this.#shell;
    if (!shell || !this.free)
      throw new AppError('conflict', `The terminal ${this.name} is not free.`);
    const { background } = options;
    const from = this.output.begin(text, { background });
    const kills = this.#memoryKills.count();
    const command = new ShellCommand(this.#numbers.next(), text, background, from);
    command.whyKilled = (code) => killedText(code, this.#memoryKills, kills);
    const input = options.stdin && shell.put(`${command.id}-input`, options.stdin);
    this.current = this.latest = command;
    this.#markAt = undefined;
    this.#idle = false;
    const place = { id: command.id, background, kind: shell.kind, input };
    shell.run(command.id, commandSource(text, place), background);
    if (options.timeout !== undefined) {
      const expire = () => void this.kill(command, 'timeout');
      command.limit = setTimeout(expire, options.timeout * 1000).unref();
    }
    this.changes.notify();
    return command;
  }

  /** Types into the foreground program; while a shell is starting, waits for its prompt. */
  type(data: string): void {
    if (this.#shell && (this.current || this.#released || this.#idle)) this.#shell.write(data);
    else this.#earlyInput += data;
  }

  /** The living processes of a command. */
  processes(command: ShellCommand): Process[] {
    return processesFrom(command.origin(this.#shell?.pid));
  }

  onBackgroundEnd(command: ShellCommand): void {
    if (!this.closed && command.watchers === 0) this.#options.onBackgroundEnd(this, command);
  }

  /** Ends a command and everything it started; resolves when that is done. */
  kill(command: ShellCommand, cause: 'timeout' | 'kill'): Promise<void> {
    command.killing ??= this.#kill(command, cause).finally(() => {
      command.killing = undefined;
      this.changes.notify();
    });
    return command.killing;
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    this.#shell?.resize(columns, rows);
  }

  hold(holder: 'agent' | 'user'): void {
    if (holder === this.holder) return;
    this.holder = holder;
    if (this.#released && holder === 'agent') this.#loopReturn.handedBack();
    else if (this.#released) this.#loopReturn.end();
    else if (this.#idle && holder === 'user') this.#release();
    this.changes.notify();
  }

  /** Ends the shell and everything it started. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    for (const command of this.background.living()) command.cause ??= 'kill';
    clearInterval(this.#watch);
    this.#loopReturn.end();
    this.changes.notify();
    const shell = this.#shell;
    const left = () => processesFrom({ numbers: this.#numbers, shell: this.#shell?.pid, since: 0 });
    // The first search is immediate: some processes are known only while the shell lives.
    const ended = endProcesses(left, 0);
    this.#shell?.kill('SIGKILL');
    await ended;
    shell?.checkBackground();
    await this.changes.until(() => this.#shell === undefined, 2_000);
    this.output.close();
  }

  async #kill(command: ShellCommand, cause: 'timeout' | 'kill'): Promise<void> {
    const shell = this.#shell;
    if (!shell || (command.ended && !command.background) || this.closed) return;
    await endCommand(command, cause, {
      pid: shell.pid,
      changes: this.changes,
      busy: () => this.current === command && this.#shell === shell && !this.#loopReturn.isOut,
      kill: (signal) => shell.kill(signal),
    });
    shell.checkBackground();
    const over = () => this.current !== command && command.ended !== undefined;
    await this.changes.until(over, endTimeoutMs);
  }

  async #open(spare?: SpareShell): Promise<void> {
    if (this.closed) return;
    const { folder, workspace, env } = this.#options;
    const cwd = [this.directory, workspace, '/'].find(isThere) ?? '/';
    this.directory = cwd;
    const events: ShellEvents = {
      onOutput: (bytes, partialLine) => this.output.receive(bytes, partialLine),
      onMark: () => (this.#markAt = this.output.scrollback.end),
      onIdle: (...idle) => this.#idled(...idle),
      onPrompt: () => this.#prompted(),
      onDirectory: (directory) => (this.directory = directory),
      onExit: (end) => this.#exited(end),
    };
    const { columns, rows } = this;
    const start = { number: this.#numbers.first, plain: this.#plain };
    const begin = async () => {
      if (spare?.usable) await spare.adopt(events, (shell) => this.#take(shell));
      else
        this.#take(
          await ShellProcess.open({ folder, cwd, env, ...start, columns, rows, ...events }),
        );
    };
    try {
      await retryFork(begin, () => this.closed);
      if (this.closed) this.#shell?.kill('SIGKILL');
    } catch (error) {
      this.atProcessLimit = isProcessLimit(error);
      this.#failures = this.atProcessLimit ? attempts : this.#failures + 1;
      this.changes.notify();
      const reason = error instanceof Error ? error.message : String(error);
      this.output.print(`\r\n[no shell can be started: ${reason}]\r\n`);
      if (!this.broken) await this.#open();
    }
  }

  #take(shell: ShellProcess): void {
    this.#shell = shell;
    if (shell.kind === 'sh') this.#loopReturn.started();
  }

  #idled(status: number, directory: string, disputed: boolean): void {
    this.directory = directory || (this.#shell?.directory ?? this.directory);
    const shell = this.#shell;
    if (!shell) return;
    if (this.current && !this.current.cause && shell.dropped)
      return this.#repeat(shell, this.current);
    this.#failures = 0;
    this.#released = false;
    this.#loopReturn.end();
    if (disputed && this.current && !this.current.cause)
      this.#markAt = this.output.print(disputeText(status));
    this.#finish(status, this.#markAt ?? this.output.scrollback.end);
    this.#markAt = undefined;
    this.changes.notify();
    void this.output.lineComplete().then(() => this.#becomeReady(shell));
  }

  /** Gives a dropped order again; what the terminal showed until then, such as `^C`, is not the command’s. */
  #repeat(shell: ShellProcess, command: ShellCommand): void {
    command.from = this.output.restart();
    shell.repeat();
  }

  #becomeReady(shell: ShellProcess): void {
    if (this.#shell !== shell || this.#idle) return;
    this.#idle = true;
    if (this.holder === 'user') this.#release();
    else this.#prompt();
    this.changes.notify();
  }

  #finish(status: number, to: number): void {
    const command = this.current;
    if (!command) return;
    this.output.flush();
    this.current = undefined;
    if (command.background) {
      this.background.add(command, this.#shell, status);
    } else {
      command.end(status, to);
      this.output.foreground.end(to);
      this.#shell?.discard(`${command.id}-input`);
    }
  }

  #prompt(): void {
    const text = promptText(this.directory, this.#options.env.HOME ?? '/');
    this.output.prompt(text, { replace: this.#loopReturn.hasTyped });
    this.#loopReturn.forget();
  }

  #release(): void {
    this.#idle = false;
    this.#released = true;
    this.output.print('\r\x1b[K');
    this.#shell?.release();
    this.#shell?.write(this.#earlyInput);
    this.#earlyInput = '';
  }

  /** An unrequested prompt: the command has ended, and the shell has left its loop. */
  #prompted(): void {
    if (this.holder === 'user' && this.#released) return;
    this.#loopReturn.prompted();
    this.changes.notify();
  }

  #exited(end: { code: number; signal: number }): void {
    this.#shell = undefined;
    this.#idle = false;
    this.#released = false;
    this.#loopReturn.end();
    this.#loopReturn.forget();
    const code = end.signal > 0 ? 128 + end.signal : end.code;
    const to = this.output.scrollback.end;
    if (!this.closed) {
      this.#failures += 1;
      const how =
        end.signal > 0 ? `was killed by signal ${end.signal}` : `ended with exit code ${end.code}`;
      const fresh = `a new one begins ${this.#plain ? 'without ~/.bashrc' : 'in the same directory'}, without the variables and functions that were set`;
      const next = this.broken ? 'it fails again and again' : fresh;
      this.output.print(`\r\n[the shell ${how}; ${next}]\r\n`);
      if (!this.broken) void this.#open();
    }
    this.#finish(code, this.closed ? to : this.output.scrollback.end);
    this.changes.notify();
  }
}
