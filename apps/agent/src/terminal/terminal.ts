import { existsSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { AppError } from '@belay/protocol';
import { Changes } from './changes.js';
import { Command } from './command.js';
import { endProcesses } from './end-processes.js';
import { Outlet, type OpenStream } from './outlet.js';
import { processesOf, signalAll, type Process } from './process-tree.js';
import { promptText, typedText } from './prompt.js';
import { quote } from './shell-script.js';
import { Shell } from './shell.js';
import { Tape } from './tape.js';

/** Bytes of a terminal that stay readable in the agent. */
const keep = 16 * 1024 * 1024;
/** Bytes that may wait for the server before the programs have to wait too. */
const mostWaiting = 4 * 1024 * 1024;
/** How long a command may go on after it was asked to end, in ms. */
const grace = 2_000;
/** How long the shell itself may take to come back once its command is dead, in ms. */
const shellPatience = 2_000;
const attempts = 3;

export interface TerminalOptions {
  name: string;
  folder: string;
  workspace: string;
  env: Record<string, string>;
  /** Offset of the first byte: what the server has stored under this name already. */
  start: number;
  openStream: OpenStream;
}

/** A named terminal: one shell after another, one tape of output, one who types. */
export class Terminal {
  readonly changes = new Changes();
  readonly tape: Tape;
  columns = 120;
  rows = 30;
  holder: 'agent' | 'user' = 'agent';
  directory: string;
  /** The command in the foreground. */
  current: Command | undefined;
  /** The last one that ended there. */
  last: Command | undefined;
  background: Command[] = [];
  closed = false;
  lastOutput = 0;
  readonly #outlet: Outlet;
  readonly #marker: string;
  #shell: Shell | undefined;
  /** The shell waits for an order. */
  #idle = false;
  /** The shell shows its own prompt, for a person. */
  #released = false;
  /** The line before the cursor holds what the agent typed to get the shell back. */
  #typed = false;
  #markAt = 0;
  #failures = 0;

  constructor(private readonly options: TerminalOptions) {
    this.#marker = `${options.name}-${randomBytes(6).toString('hex')}`;
    this.directory = options.workspace;
    this.tape = new Tape(options.start, keep, () => this.#outlet.acknowledged);
    this.#outlet = new Outlet(options.name, () => this.tape, {
      start: options.start,
      open: options.openStream,
      onDrain: () => this.#shell?.hold(this.#outlet.waiting > mostWaiting),
    });
    void this.#open();
  }

  get name(): string {
    return this.options.name;
  }

  /** Whether a command can be given to the shell now. */
  get free(): boolean {
    return this.#idle && !this.current && this.holder === 'agent';
  }

  /** Whether a program that a person started has the terminal. */
  get personal(): boolean {
    return this.#released && !this.current && this.#shell?.inFront === false;
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
    this.#print(typedText(text));
    const command = new Command(text, options.background, this.tape.end);
    const input = options.stdin && shell.put(`${command.id}-input`, options.stdin);
    const source = [
      'eval "$__belay_text"',
      input ? `<${quote(input)}` : options.background ? '</dev/null' : '',
      options.background ? '&' : '',
    ];
    this.current = command;
    this.#idle = false;
    shell.run(
      command.id,
      `__belay_text=${quote(text)}\n__belay_source=${quote(source.join(' '))}\n`,
    );
    if (options.timeout !== undefined) this.#limit(command, options.timeout);
    this.changes.notify();
    return command;
  }

  /** Types into whatever has the terminal. */
  type(data: string): void {
    this.#shell?.write(data);
  }

  /** The living processes of a command. */
  processes(command: Command): Process[] {
    return this.#shell ? processesOf(command.origin(this.#shell.pid)) : [];
  }

  /** Background commands that still run; those that have ended are forgotten. */
  runningInBackground(): Command[] {
    this.background = this.background.filter((command) => this.processes(command).length > 0);
    return this.background;
  }

  interruptBackground(): void {
    for (const command of this.runningInBackground()) signalAll(this.processes(command), 'SIGINT');
  }

  /** Ends a command with all it started; the shell survives if it can. Resolves when the command has ended. */
  async kill(command: Command, cause: 'timeout' | 'kill'): Promise<void> {
    if (command.ended) return;
    command.cause ??= cause;
    const shell = this.#shell;
    if (!shell) return;
    // A loop of the shell itself would start the next program.
    if (command === this.current) shell.kill('SIGINT');
    const find = () => processesOf(command.origin(shell.pid));
    await endProcesses(find, cause === 'timeout' ? grace : 0);
    if (command !== this.current) return;
    const until = Date.now() + shellPatience;
    while (!command.ended && this.#shell === shell && Date.now() < until) {
      shell.kill('SIGINT');
      await this.changes.until(() => command.ended !== undefined, 100);
      await endProcesses(find, 0);
    }
    if (!command.ended && this.#shell === shell) shell.kill('SIGKILL');
    await this.changes.until(() => command.ended !== undefined, 5_000);
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
    this.changes.notify();
    const shell = this.#shell;
    if (shell) {
      const origin = {
        shell: shell.pid,
        variable: 'BELAY_TERMINAL',
        value: this.#marker,
        since: 0,
      } as const;
      const left = processesOf(origin);
      shell.kill('SIGKILL');
      // The shell's own id may be reused once it is gone, so its children are looked up by what they inherited.
      await endProcesses(() => (left.length > 0 ? processesOf(origin) : []), 0);
      await this.changes.until(() => this.#shell === undefined, 2_000);
    }
    this.#outlet.close();
  }

  #print(text: string): void {
    this.#received(Buffer.from(text));
  }

  #received(bytes: Buffer): void {
    this.tape.append(bytes);
    this.lastOutput = Date.now();
    this.#outlet.notify();
    if (this.#outlet.waiting > mostWaiting) this.#shell?.hold(true);
    this.changes.notify();
  }

  async #open(): Promise<void> {
    if (this.closed) return;
    const { folder, workspace, env } = this.options;
    const cwd = [this.directory, workspace, '/'].find((path) => existsSync(path)) ?? '/';
    this.directory = cwd;
    try {
      const shell = await Shell.open({
        folder,
        cwd,
        env: { ...env, BELAY_TERMINAL: this.#marker },
        columns: this.columns,
        rows: this.rows,
        onOutput: (bytes) => this.#received(bytes),
        onMark: () => (this.#markAt = this.tape.end),
        onIdle: (status, directory) => this.#idled(status, directory),
        onPrompt: () => void this.#prompted(),
        onExit: (end) => this.#exited(end),
      });
      this.#shell = shell;
      if (this.closed) shell.kill('SIGKILL');
    } catch (error) {
      this.#failures += 1;
      const reason = error instanceof Error ? error.message : String(error);
      this.#print(`\r\n[no shell can be started: ${reason}]\r\n`);
      if (!this.broken) await this.#open();
    }
  }

  #idled(status: number, directory: string): void {
    this.directory = directory;
    if (this.current && !this.current.cause && this.#shell?.dropped) return this.#shell.again();
    this.#failures = 0;
    this.#released = false;
    this.#idle = true;
    this.#finish(status, this.#markAt);
    if (this.holder === 'user') this.#release();
    else this.#prompt();
    this.changes.notify();
  }

  #finish(status: number, to: number): void {
    const command = this.current;
    if (!command) return;
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
    const fresh = this.tape.lastByte === undefined || this.tape.lastByte === 0x0a;
    const line = this.#typed ? '\x1b[A\r\x1b[K' : fresh ? '' : '\r\n';
    this.#typed = false;
    this.#print(`${line}${promptText(this.directory, this.options.env.HOME ?? '/')}`);
  }

  #release(): void {
    this.#idle = false;
    this.#released = true;
    this.#print('\r\x1b[K');
    this.#shell?.release();
  }

  async #prompted(): Promise<void> {
    if (this.holder === 'user' && this.#released) return;
    // After a Ctrl-C bash comes back by itself; what is typed then would be input of the next command.
    const back = await this.changes.until(() => this.#idle, 50);
    if (back || this.closed || !this.#shell?.inFront) return;
    this.#typed = true;
    this.#shell.comeBack();
  }

  #exited(end: { code: number; signal: number }): void {
    this.#shell = undefined;
    this.#idle = false;
    this.#released = false;
    this.#typed = false;
    const code = end.signal > 0 ? 128 + end.signal : end.code;
    const to = this.tape.end;
    if (!this.closed) {
      this.#failures += 1;
      const how =
        end.signal > 0 ? `was killed by signal ${end.signal}` : `ended with exit code ${end.code}`;
      const next = this.broken
        ? 'it fails again and again'
        : 'a new one begins in the same directory';
      this.#print(`\r\n[the shell ${how}; ${next}]\r\n`);
      if (!this.broken) void this.#open();
    }
    this.#finish(code, this.closed ? to : this.tape.end);
    this.changes.notify();
  }

  #limit(command: Command, seconds: number): void {
    const timer = setTimeout(() => void this.kill(command, 'timeout'), seconds * 1000);
    void this.changes
      .until(() => command.ended !== undefined || this.closed, seconds * 1000 + 1)
      .finally(() => clearTimeout(timer));
  }
}
