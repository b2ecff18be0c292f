import { readFileSync, readlinkSync } from 'node:fs';
import { findProgram } from '../find-program.js';
import { BackgroundEnd, type BackgroundEndEvents } from './background-end.js';
import { MarkFilter } from './mark-filter.js';
import { openPty, type Pty, type PtyOptions } from './pty.js';
import { ReadyReports, type Claim } from './ready-reports.js';
import { comeBack, shellScript, type ShellKind, type ShellStart } from './shell-script.js';
import type { Process } from './process-tree.js';
import { SideChannel, type Report } from './side-channel.js';

/** How long the end of a command's output is awaited after its report; usually it arrives earlier. */
const markTimeoutMs = 400;
/** How long bytes that may start a mark are held, in case they are something else. */
const holdTimeoutMs = 50;

/** A read of this size means that the pty may have more bytes. */
const ptyRead = 4095;

export const usualSize = { columns: 120, rows: 30 } as const;

export interface ShellOptions extends ShellEvents, ShellStart {
  /** The folder of the side channel. */
  folder: string;
  cwd: string;
  env: Record<string, string>;
  columns: number;
  rows: number;
}

export interface ShellEvents {
  /**
   * Output in order, valid only during the call, as in `Pty`; `partialLine` if it ends within a line that is about to
   * continue.
   */
  onOutput(bytes: Buffer, partialLine: boolean): void;
  /** The command’s output ends here; `onIdle` follows. The last mark counts, because programs can print marks, too. */
  onMark(): void;
  /**
   * The shell waits for an order. `status` is that of the previous command; `disputed` if another process reported a
   * different one.
   */
  onIdle(status: number, directory: string, disputed: boolean): void;
  /** The shell shows a prompt although it was not released: it left its loop. */
  onPrompt(): void;
  /** The shell exits, and was in this directory. */
  onDirectory(directory: string): void;
  onExit(end: { code: number; signal: number }): void;
}

/** One shell process in a pty, driven over its side channel. */
export class ShellProcess {
  readonly kind: ShellKind;
  readonly #channel: SideChannel;
  readonly #options: ShellOptions;
  #pty: Pty;
  #filter: MarkFilter;
  /** Identifies the next order. */
  #nonce = '';
  /** The ordered command that has not started yet. */
  #ordered: string | undefined;
  /** The last nonce whose mark was seen in the output. */
  #marked = '';
  readonly #readyReports: ReadyReports;
  #ready: Claim | undefined;
  #markTimer: NodeJS.Timeout | undefined;
  #flush = setTimeout(() => this.#filter.flush(), holdTimeoutMs);
  #paused = false;
  #partialLine = false;
  /** The background commands whose subshells still exist, by id. */
  readonly #backgroundEnds = new Map<string, BackgroundEnd>();
  #ended = false;
  /** The number of reads so far. */
  #reads = 0;

  static async open(options: ShellOptions): Promise<ShellProcess> {
    let report: (value: Report) => void = () => undefined;
    const channel = await SideChannel.open(options.folder, (value) => report(value));
    try {
      const shell = new ShellProcess(channel, options);
      report = (value) => shell.#reported(value);
      return shell;
    } catch (error) {
      await channel.close();
      throw error;
    }
  }

  private constructor(channel: SideChannel, options: ShellOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#readyReports = new ReadyReports({
      waits: () => this.waits,
      drain: () => channel.drain(),
      accept: (claim) => this.#accepted(claim),
    });
    this.#filter = new MarkFilter(
      channel.paths.mark,
      (bytes) => options.onOutput(bytes, this.#partialLine),
      (nonce) => this.#mark(nonce),
    );
    const { kind, ...launched } = launch(channel, options);
    this.kind = kind;
    this.#pty = openPty({
      ...launched,
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

  /** Runs shell source at top level; call it only after `onIdle`. `follow` awaits the end of a background command. */
  run(id: string, source: string, background: boolean): void {
    if (background) this.#backgroundEnds.set(id, new BackgroundEnd(id, this.#channel));
    this.#channel.put(id, source);
    this.#ordered = id;
    this.#channel.order(`run ${this.#nonce} ${id}`);
  }

  /** Reports the end of a background command; `shell` is the process that runs it, unless that has already ended. */
  follow(id: string, shell: Process | undefined, onEnd: BackgroundEndEvents['onEnd']): void {
    const onGone = () => this.#forget(id);
    this.#backgroundEnds.get(id)?.follow(shell, { onEnd, onGone });
  }

  /** Checks at once whether background commands were killed. */
  checkBackground(): void {
    for (const end of this.#backgroundEnds.values()) end.check();
  }

  /** Whether a Ctrl-C made the shell drop an order before it started; it can be `repeat`ed. */
  get dropped(): boolean {
    return this.#ordered !== undefined;
  }

  repeat(): void {
    this.#channel.order(`run ${this.#nonce} ${this.#ordered}`);
  }

  /** Shows the shell's own prompt, for the user. */
  release(): void {
    this.#channel.order(`release ${this.#nonce}`);
  }

  /** Returns from a prompt to the loop. */
  comeBack(): void {
    // A line feed also ends a line of a terminal that a killed program left in raw mode.
    this.#pty.write(` ${comeBack}\n`);
  }

  write(data: string): void {
    this.#pty.write(data);
  }

  /** Presses Ctrl-C at the shell's prompt, also if the shell waits for an order by now: `onIdle` follows. */
  discardLine(): void {
    this.#readyReports.interrupted(this.#ready);
    this.#ready = undefined;
    clearTimeout(this.#markTimer);
    this.#pty.write('\x03');
  }

  /** Writes a file for a command; removed with the shell. */
  put(name: string, content: string | Uint8Array): string {
    return this.#channel.put(name, content);
  }

  discard(name: string): void {
    this.#channel.remove(name);
  }

  resize(columns: number, rows: number): void {
    this.#pty.resize(columns, rows);
  }

  /** Stops or continues reading; programs block when the kernel's buffer is full. */
  hold(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    if (paused) this.#pty.pause();
    else this.#pty.resume();
  }

  kill(signal: NodeJS.Signals): void {
    this.#pty.kill(signal);
  }

  /** Whether the shell waits for an order, according to the kernel. */
  get waits(): boolean {
    return this.#channel.isReadBy(this.pid);
  }

  /** Whether the shell itself is in the foreground, so that no program runs there. */
  get inFront(): boolean {
    try {
      const stat = readFileSync(`/proc/${this.pid}/stat`, 'latin1');
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[5] === String(this.pid);
    } catch {
      return false;
    }
  }

  /** The shell’s current directory, also while a command runs. */
  get directory(): string | undefined {
    try {
      return readlinkSync(`/proc/${this.pid}/cwd`);
    } catch {
      return undefined;
    }
  }

  #received(bytes: Buffer): void {
    this.#reads += 1;
    this.#markTimer?.refresh();
    this.#partialLine = bytes.length >= ptyRead && bytes.at(-1) !== 0x0a;
    this.#filter.push(bytes);
    if (this.#filter.holding) this.#flush.refresh();
  }

  #reported(report: Report): void {
    if (report.kind === 'prompt') {
      // A shell that waits for orders shows no prompt.
      if (!this.waits) this.#options.onPrompt();
    } else if (report.kind === 'left') {
      this.#options.onDirectory(report.directory);
    } else if (report.kind === 'ended') {
      this.#backgroundEnds.get(report.id)?.report(report.status);
    } else if (report.kind === 'begin') {
      this.#channel.remove(report.id);
      this.#ordered = undefined;
    } else {
      this.#readyReports.add(report);
    }
  }

  #accepted(claim: Claim): void {
    this.#nonce = claim.nonce;
    this.#ready = claim;
    // Without output in the terminal there is no mark.
    clearTimeout(this.#markTimer);
    this.#markTimer = setTimeout(() => this.#lateMark(claim.nonce), markTimeoutMs);
    this.#settle();
  }

  #mark(nonce: string): void {
    this.#marked = nonce;
    this.#options.onMark();
    this.#settle();
  }

  #lateMark(nonce: string): void {
    if (this.#paused) return void this.#markTimer?.refresh();
    // This process may have been delayed, so pending output is read first.
    const reads = this.#reads;
    setImmediate(() => {
      if (reads === this.#reads && this.#ready?.nonce === nonce) this.#mark(nonce);
    });
  }

  #settle(): void {
    const ready = this.#ready;
    if (!ready || ready.nonce !== this.#marked) return;
    this.#ready = undefined;
    // If a command resets the count, the same nonce repeats.
    this.#marked = '';
    clearTimeout(this.#markTimer);
    this.#options.onIdle(ready.status, ready.disputed ? '' : ready.directory, ready.disputed);
  }

  #exited(end: { code: number; signal: number }): void {
    this.#readyReports.close();
    clearTimeout(this.#markTimer);
    clearTimeout(this.#flush);
    this.#filter.flush();
    this.#options.onExit(end);
    for (const [id, background] of this.#backgroundEnds) {
      if (!background.followed) this.#forget(id);
    }
    this.#ended = true;
    if (this.#backgroundEnds.size === 0) void this.#channel.close();
  }

  /** Background commands outlive their shell, and so does their report channel. */
  #forget(id: string): void {
    this.#backgroundEnds.get(id)?.close();
    this.#backgroundEnds.delete(id);
    if (this.#ended && this.#backgroundEnds.size === 0) void this.#channel.close();
  }
}

function launch(
  channel: SideChannel,
  { env, ...start }: Pick<ShellOptions, 'env' | keyof ShellStart>,
): Pick<PtyOptions, 'file' | 'args' | 'env'> & { kind: ShellKind } {
  const bash = findProgram('bash', env.PATH);
  const kind = bash ? 'bash' : 'sh';
  const script = channel.put('start', shellScript(kind, channel.paths, start));
  if (bash) return { kind, file: bash, args: ['--noprofile', '--rcfile', script, '-i'], env };
  const sh = findProgram('sh', env.PATH) ?? '/bin/sh';
  return { kind, file: sh, args: ['-i'], env: { ...env, ENV: script } };
}
