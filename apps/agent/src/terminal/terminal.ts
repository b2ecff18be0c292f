import { existsSync } from 'node:fs';
import { AppError } from '@belay/protocol';
import { Changes } from './changes.js';
import { Command } from './command.js';
import { endCommand } from './end-command.js';
import { endProcesses } from './end-processes.js';
import type { OpenStream } from './outlet.js';
import { Output } from './output.js';
import { ProcessNumbers } from './process-numbers.js';
import { processesOf, signalAll, type Process } from './process-tree.js';
import { promptText, typedText } from './prompt.js';
import { quote } from './shell-script.js';
import { Shell, usualSize, type ShellEvents } from './shell.js';
import type { SpareShell } from './spare-shell.js';

/** How long a shell whose command has ended may take to say so, in ms. */
const lastPatience = 10_000;
/** How often a shell is started, or called back to its loop, before that is given up. */
const attempts = 3;
/** How long a prompt has to be taken back before the agent types there, in ms. */
const promptPatience = 20;
/** How long what it typed may take to be read, in ms; then it is typed again. */
const typingPatience = 3_000;
/** How often the directory of a running command is looked at, in ms. */
const watchEvery = 250;

export interface TerminalOptions {
  name: string;
  folder: string;
  workspace: string;
  env: Record<string, string>;
  /** Offset of the first byte: what the server has stored under this name already. */
  start: number;
  openStream: OpenStream;
  /** Its first shell, if one is there already. */
  spare?: SpareShell | undefined;
}

/** A named terminal: one shell after another, one tape of output, one who types. */
export class Terminal {
  readonly changes = new Changes();
  readonly output: Output;
  columns: number = usualSize.columns;
  rows: number = usualSize.rows;
  holder: 'agent' | 'user' = 'agent';
  directory: string;
  /** The command in the foreground. */
  current: Command | undefined;
  /** The last one that ended there. */
  last: Command | undefined;
  background: Command[] = [];
  closed = false;
  readonly #numbers: ProcessNumbers;
  #shell: Shell | undefined;
  /** The shell waits for an order. */
  #idle = false;
  /** The shell shows its own prompt, for a person. */
  #released = false;
  /** What a person typed before there was a shell to take it. */
  #early = '';
  /** How often the agent typed to get the shell back; the line before the cursor holds it. */
  #typed = 0;
  /** The shell shows its prompt though nobody released it. */
  #fallen = false;
  #returning: NodeJS.Timeout | undefined;
  #markAt: number | undefined;
  readonly #watch: NodeJS.Timeout;
  #failures = 0;

  constructor(private readonly options: TerminalOptions) {
    this.#numbers = options.spare?.numbers ?? new ProcessNumbers();
    this.directory = options.workspace;
    this.output = new Output({
      terminal: options.name,
      start: options.start,
      openStream: options.openStream,
      changes: this.changes,
      onHold: (held) => this.#shell?.hold(held),
    });
    // A shell that is replaced by a program or killed cannot say any more where it was.
    this.#watch = setInterval(() => (this.directory = this.whereabouts), watchEvery).unref();
    void this.#open(options.spare);
  }

  get name(): string {
    return this.options.name;
  }

  /** Whether a command can be given to the shell now. */
  get free(): boolean {
    return this.#idle && !this.output.torn && !this.current && this.holder === 'agent';
  }

  /** Whether a program that a person started has the terminal. */
  get personal(): boolean {
    return this.#released && !this.current && this.#shell?.inFront === false;
  }

  /** A start-up file of the user that ends each shell must not lock the agent out. */
  get #plain(): boolean {
    return this.#failures === attempts - 1;
  }

  get broken(): boolean {
    return this.#failures >= attempts;
  }

  /** Where the shell is now, also while a command runs. */
  get whereabouts(): string {
    return (this.current && this.#shell?.directory) || this.directory;
  }

  /** Gives a command to the shell; only when `free`. */
  start(
    text: string,
    options: { background: boolean; stdin?: Uint8Array | undefined; timeout?: number | undefined },
  ): Command {
    const shell = this.#shell;
    if (!shell || !this.free)
      throw new AppError('conflict', `The terminal ${this.name} is not free.`);
    this.output.print(typedText(text));
    const command = new Command(
      this.#numbers.next(),
      text,
      options.background,
      this.output.tape.end,
    );
    const input = options.stdin && shell.put(`${command.id}-input`, options.stdin);
    const source = [
      `__belay_text=${quote(text)}`,
      `__belay_source=${wrapped(options.background, input)}`,
    ];
    this.current = command;
    this.#markAt = undefined;
    this.#idle = false;
    shell.run(command.id, `${source.join('\n')}\n`);
    if (options.timeout !== undefined) {
      const expire = () => void this.kill(command, 'timeout');
      command.limit = setTimeout(expire, options.timeout * 1000).unref();
    }
    this.changes.notify();
    return command;
  }

  /** Types into whatever has the terminal; while a shell is only just coming, its prompt is waited for. */
  type(data: string): void {
    if (this.#shell && (this.current || this.#released || this.#idle)) this.#shell.write(data);
    else this.#early += data;
  }

  /** The living processes of a command. */
  processes(command: Command): Process[] {
    return processesOf(command.origin(this.#shell?.pid));
  }

  /** Background commands that still run; those that have ended are forgotten. */
  runningInBackground(): Command[] {
    this.background = this.background.filter((command) => this.processes(command).length > 0);
    return this.background;
  }

  interruptBackground(): void {
    for (const command of this.runningInBackground()) signalAll(this.processes(command), 'SIGINT');
  }

  /** Ends a command with all it started; resolves when that is done. */
  kill(command: Command, cause: 'timeout' | 'kill'): Promise<void> {
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
    if (holder === 'user' && this.#idle) this.#release();
    // Throws away what was half typed; a running program is left alone and the shell comes back after it.
    else if (holder === 'agent' && this.#released && this.#shell?.inFront)
      this.#shell.write('\x03');
    this.changes.notify();
  }

  /** Ends the shell and everything that it started. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.#watch);
    clearTimeout(this.#returning);
    this.changes.notify();
    const left = () => processesOf({ numbers: this.#numbers, shell: this.#shell?.pid, since: 0 });
    // The first look is at once: some are known only while the shell lives.
    const ended = endProcesses(left, 0);
    this.#shell?.kill('SIGKILL');
    await ended;
    await this.changes.until(() => this.#shell === undefined, 2_000);
    this.output.close();
  }

  async #kill(command: Command, cause: 'timeout' | 'kill'): Promise<void> {
    const shell = this.#shell;
    if (!shell || command.ended || this.closed) return;
    await endCommand(command, cause, {
      pid: shell.pid,
      changes: this.changes,
      busy: () => this.current === command && this.#shell === shell && !this.#fallen,
      kill: (signal) => shell.kill(signal),
    });
    await this.changes.until(() => this.current !== command, lastPatience);
  }

  async #open(spare?: SpareShell): Promise<void> {
    if (this.closed) return;
    const { folder, workspace, env } = this.options;
    const cwd = [this.directory, workspace, '/'].find((path) => existsSync(path)) ?? '/';
    this.directory = cwd;
    const events: ShellEvents = {
      onOutput: (bytes, torn) => this.output.receive(bytes, torn),
      onMark: () => (this.#markAt ??= this.output.tape.end),
      onIdle: (status, directory) => this.#idled(status, directory),
      onPrompt: () => this.#prompted(),
      onDirectory: (directory) => (this.directory = directory),
      onExit: (end) => this.#exited(end),
    };
    const { columns, rows } = this;
    const start = { number: this.#numbers.first, plain: this.#plain };
    try {
      if (spare?.usable) await spare.adopt(events, (shell) => (this.#shell = shell));
      else this.#shell = await Shell.open({ folder, cwd, env, ...start, columns, rows, ...events });
      if (this.closed) this.#shell?.kill('SIGKILL');
    } catch (error) {
      this.#failures += 1;
      const reason = error instanceof Error ? error.message : String(error);
      this.output.print(`\r\n[no shell can be started: ${reason}]\r\n`);
      if (!this.broken) await this.#open();
    }
  }

  #idled(status: number, directory: string): void {
    this.directory = directory || (this.#shell?.directory ?? this.directory);
    const shell = this.#shell;
    if (!shell) return;
    if (this.current && !this.current.cause && shell.dropped) return shell.again();
    this.#failures = 0;
    this.#released = false;
    this.#fallen = false;
    clearTimeout(this.#returning);
    this.#finish(status, this.#markAt ?? this.output.tape.end);
    this.#markAt = undefined;
    this.changes.notify();
    void this.output.whole().then(() => this.#invite(shell));
  }

  #invite(shell: Shell): void {
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
      this.background.push(command);
    } else {
      command.end(status, to);
      this.#shell?.discard(`${command.id}-input`);
      this.last = command;
    }
  }

  #prompt(): void {
    const text = promptText(this.directory, this.options.env.HOME ?? '/');
    this.output.prompt(text, { replace: this.#typed > 0 });
    this.#typed = 0;
  }

  #release(): void {
    this.#idle = false;
    this.#released = true;
    this.output.print('\r\x1b[K');
    this.#shell?.release();
    this.#shell?.write(this.#early);
    this.#early = '';
  }

  /** A prompt nobody asked for: the command is over, and the shell has fallen out of its loop. */
  #prompted(): void {
    if (this.holder === 'user' && this.#released) return;
    this.#fallen = true;
    this.changes.notify();
    clearTimeout(this.#returning);
    // Bash comes back by itself; what is typed then would be input of the next command, and so would a second typing.
    const delay = this.#typed > 0 ? typingPatience : promptPatience;
    this.#returning = setTimeout(() => this.#comeBack(), delay);
  }

  #comeBack(): void {
    if (this.closed || !this.#fallen || !this.#shell?.inFront) return;
    // One whose own means a command took away is replaced.
    if (this.#typed >= attempts) return this.#shell.kill('SIGKILL');
    this.#typed += 1;
    this.#shell.comeBack();
    this.#returning = setTimeout(() => this.#comeBack(), typingPatience);
  }

  #exited(end: { code: number; signal: number }): void {
    this.#shell = undefined;
    this.#idle = false;
    this.#released = false;
    this.#fallen = false;
    this.#typed = 0;
    clearTimeout(this.#returning);
    const code = end.signal > 0 ? 128 + end.signal : end.code;
    const to = this.output.tape.end;
    if (!this.closed) {
      this.#failures += 1;
      const how =
        end.signal > 0 ? `was killed by signal ${end.signal}` : `ended with exit code ${end.code}`;
      const fresh = `a new one begins ${this.#plain ? 'without ~/.bashrc' : 'in the same directory'}`;
      const next = this.broken ? 'it fails again and again' : fresh;
      this.output.print(`\r\n[the shell ${how}; ${next}]\r\n`);
      if (!this.broken) void this.#open();
    }
    this.#finish(code, this.closed ? to : this.output.tape.end);
    this.changes.notify();
  }
}

/** A word of shell source: what evaluates the command's text, with its input and in its place. */
function wrapped(background: boolean, input: string | undefined): string {
  if (!background && input === undefined) return '$__belay_text';
  return quote(`eval "$__belay_text" <${quote(input ?? '/dev/null')}${background ? ' &' : ''}`);
}
