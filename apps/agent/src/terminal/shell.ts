import { accessSync, constants, readFileSync, readlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { MarkFilter } from './mark-filter.js';
import { openPty, type Pty, type PtyOptions } from './pty.js';
import { comeBack, shellScript, type ShellStart } from './shell-script.js';
import { SideChannel, type Report } from './side-channel.js';

/** How long the end of a command's output is waited for after its report; it is usually there before. */
const markPatience = 400;
/** How long bytes that may begin a mark are held back, in case they are something else. */
const holdPatience = 50;

/** Bytes that a pty gives at once, at most; as many mean that there is more. */
const ptyRead = 4095;

export const usualSize = { columns: 120, rows: 30 } as const;

export interface ShellOptions extends ShellEvents, ShellStart {
  /** Folder for the side channel. */
  folder: string;
  cwd: string;
  env: Record<string, string>;
  columns: number;
  rows: number;
}

export interface ShellEvents {
  /** Bytes in order, lent as by a `Pty`; `torn` when they stop amid a line of which more is about to come. */
  onOutput(bytes: Buffer, torn: boolean): void;
  /** The output of the command ends here; `onIdle` follows. */
  onMark(): void;
  /** The shell waits for an order. `status` is that of the command before. */
  onIdle(status: number, directory: string): void;
  /** A prompt is shown though nobody released the shell: it fell out of its loop. */
  onPrompt(): void;
  /** It leaves, and was in this directory. */
  onDirectory(directory: string): void;
  onExit(end: { code: number; signal: number }): void;
}

/** One shell process in a pty, driven over its side channel. */
export class Shell {
  #pty: Pty;
  #filter: MarkFilter;
  /** Answers of orders name it. */
  #nonce = '';
  /** The command that was ordered and has not begun. */
  #ordered: string | undefined;
  /** The last nonce whose mark was seen in the output. */
  #marked = '';
  #ready: Extract<Report, { kind: 'ready' }> | undefined;
  #patience: NodeJS.Timeout | undefined;
  #flush = setTimeout(() => this.#filter.flush(), holdPatience);
  #paused = false;
  #torn = false;

  static async open(options: ShellOptions): Promise<Shell> {
    let report: (value: Report) => void = () => undefined;
    const channel = await SideChannel.open(options.folder, (value) => report(value));
    const shell = new Shell(channel, options);
    report = (value) => shell.#reported(value);
    return shell;
  }

  private constructor(
    private readonly channel: SideChannel,
    private readonly options: ShellOptions,
  ) {
    this.#filter = new MarkFilter(
      channel.paths.mark,
      (bytes) => options.onOutput(bytes, this.#torn),
      (nonce) => this.#mark(nonce),
    );
    this.#pty = openPty({
      ...launch(channel, options),
      cwd: options.cwd,
      columns: options.columns,
      rows: options.rows,
      onData: (bytes) => this.#received(bytes),
      onExit: (end) => this.#exited(end),
    });
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** Runs shell source at top level; only after `onIdle`. */
  run(id: string, source: string): void {
    this.channel.put(id, source);
    this.#ordered = id;
    this.channel.order(`run ${this.#nonce} ${id}`);
  }

  /** Whether a Ctrl-C made the shell drop an order before it began; it can be given `again`. */
  get dropped(): boolean {
    return this.#ordered !== undefined;
  }

  again(): void {
    this.channel.order(`run ${this.#nonce} ${this.#ordered}`);
  }

  /** Shows the shell's own prompt, for a person. */
  release(): void {
    this.channel.order(`release ${this.#nonce}`);
  }

  /** From a prompt back into the loop. */
  comeBack(): void {
    // A line feed also ends a line of a terminal that a killed program left in raw mode.
    this.#pty.write(` ${comeBack}\n`);
  }

  write(data: string): void {
    this.#pty.write(data);
  }

  /** A file for a command; gone with the shell. */
  put(name: string, content: string | Uint8Array): string {
    return this.channel.put(name, content);
  }

  discard(name: string): void {
    this.channel.remove(name);
  }

  resize(columns: number, rows: number): void {
    this.#pty.resize(columns, rows);
  }

  /** Stops or goes on reading; what runs blocks when the kernel's buffer is full. */
  hold(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    if (paused) this.#pty.pause();
    else this.#pty.resume();
  }

  kill(signal: NodeJS.Signals): void {
    this.#pty.kill(signal);
  }

  /** Whether the shell itself has the terminal, so that no program runs in the foreground. */
  get inFront(): boolean {
    try {
      const stat = readFileSync(`/proc/${this.pid}/stat`, 'latin1');
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[5] === String(this.pid);
    } catch {
      return false;
    }
  }

  /** Where the shell is now, also while a command runs. */
  get directory(): string | undefined {
    try {
      return readlinkSync(`/proc/${this.pid}/cwd`);
    } catch {
      return undefined;
    }
  }

  #received(bytes: Buffer): void {
    this.#patience?.refresh();
    this.#torn = bytes.length >= ptyRead && bytes.at(-1) !== 0x0a;
    this.#filter.push(bytes);
    if (this.#filter.holding) this.#flush.refresh();
  }

  #reported(report: Report): void {
    if (report.kind === 'prompt') {
      this.options.onPrompt();
    } else if (report.kind === 'left') {
      this.options.onDirectory(report.directory);
    } else if (report.kind === 'begin') {
      this.channel.remove(report.id);
      this.#ordered = undefined;
    } else {
      this.#nonce = report.nonce;
      this.#ready = report;
      // Output that no longer goes to the terminal brings no mark.
      clearTimeout(this.#patience);
      this.#patience = setTimeout(() => this.#lateMark(report.nonce), markPatience);
      this.#settle();
    }
  }

  #mark(nonce: string): void {
    this.#marked = nonce;
    this.options.onMark();
    this.#settle();
  }

  #lateMark(nonce: string): void {
    if (this.#paused) this.#patience?.refresh();
    else this.#mark(nonce);
  }

  #settle(): void {
    const ready = this.#ready;
    if (!ready || ready.nonce !== this.#marked) return;
    this.#ready = undefined;
    // Should a command reset the count, the same nonce comes again.
    this.#marked = '';
    clearTimeout(this.#patience);
    this.options.onIdle(ready.status, ready.directory);
  }

  #exited(end: { code: number; signal: number }): void {
    clearTimeout(this.#patience);
    clearTimeout(this.#flush);
    this.#filter.flush();
    void this.channel.close();
    this.options.onExit(end);
  }
}

function launch(
  channel: SideChannel,
  { env, ...start }: Pick<ShellOptions, 'env' | keyof ShellStart>,
): Pick<PtyOptions, 'file' | 'args' | 'env'> {
  const bash = find('bash', env.PATH);
  const script = channel.put('start', shellScript(bash ? 'bash' : 'sh', channel.paths, start));
  if (bash) return { file: bash, args: ['--noprofile', '--rcfile', script, '-i'], env };
  const sh = find('sh', env.PATH) ?? '/bin/sh';
  return { file: sh, args: ['-i'], env: { ...env, ENV: script } };
}

function find(program: string, path = '/usr/local/bin:/usr/bin:/bin'): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
