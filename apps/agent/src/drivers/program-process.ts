import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { ProgramLaunch } from '@belay/protocol';
import { endProcesses } from '../terminal/end-processes.js';
import { ProcessNumbers } from '../terminal/process-numbers.js';
import {
  isProcessAlive,
  listProcesses,
  processesFrom,
  type Process,
} from '../terminal/process-tree.js';
import { asUser } from '../user-separation.js';
import type { EndOfProgram } from './end-of-program.js';
import { writeProgramFiles } from './write-program-files.js';

/** The lines of a program’s errors that are kept, and their characters. */
const keptLines = 20;
const keptCharacters = 300;
/** How long a process that cannot be ended may keep the output of an ended program open. */
const closeTimeoutMs = 1_000;

/** A running program of an agent, with all processes that it starts. */
export class ProgramProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #found = new Map<number, Process>();
  /** Known of all its processes, also of those that have lost their parents; see `processesFrom`. */
  readonly #numbers = new ProcessNumbers();
  readonly #lines: string[] = [];
  /** Never rejects. */
  readonly ended: Promise<EndOfProgram>;

  /** Starts the program in a folder, with these variables in addition. */
  constructor(
    launch: Pick<ProgramLaunch, 'command' | 'env' | 'files'>,
    { cwd, env }: { cwd: string; env: Record<string, string> },
  ) {
    const [program = '', ...rest] = launch.command;
    const { file, args } = asUser('/bin/sh', [
      '-c',
      numbered,
      'sh',
      String(this.#numbers.first),
      program,
      ...rest,
    ]);
    writeProgramFiles(launch.files);
    this.#child = spawn(file, args, {
      cwd,
      env: { ...env, ...launch.env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('error', ({ message }) =>
        resolve({ code: null, signal: null, fault: message }),
      );
      this.#child.once('close', (code, signal) => resolve({ code, signal }));
    });
    this.#child.once('exit', () => void this.#endRest());
    // It may end at any moment; `ended` says so.
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => this.keep(text));
  }

  get input(): Writable {
    return this.#child.stdin;
  }

  get output(): Readable {
    return this.#child.stdout;
  }

  /** The last line that it printed besides its messages; empty if there was none. */
  get lastLine(): string {
    return this.#lines.at(-1) ?? '';
  }

  /** Keeps the last lines of what it prints besides its messages, for the sentence about its end. */
  keep(text: string): void {
    for (const line of text.slice(-keptLines * keptCharacters).split('\n'))
      if (line.trim()) this.#lines.push(line.trim().slice(0, keptCharacters));
    this.#lines.splice(0, this.#lines.length - keptLines);
  }

  /** Ends the program and what it started: with SIGTERM, and after this time with SIGKILL. */
  async end(termTimeoutMs: number): Promise<void> {
    await endProcesses(() => this.#living(), termTimeoutMs);
    this.#close();
    await this.ended;
  }

  /** What it started does not go on without it, and would keep its output open. */
  async #endRest(): Promise<void> {
    await endProcesses(() => this.#living(), 0);
    const timer = setTimeout(() => this.#close(), closeTimeoutMs);
    await this.ended;
    clearTimeout(timer);
  }

  #close(): void {
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }

  /** Its processes, and those that have lost their parents since they were found. */
  #living(): Process[] {
    const { pid } = this.#child;
    if (pid === undefined) return [];
    const all = listProcesses();
    const own = all.filter((one) => one.pid === pid);
    const started = processesFrom({ numbers: this.#numbers, shell: pid, since: 0 }, all);
    for (const one of [...own, ...started]) this.#found.set(one.pid, one);
    return [...this.#found.values()].filter(isProcessAlive);
  }
}

/** Gives a program the number that is the first argument. Shells spell the limit differently, and some have none. */
const numbered = `n=$1
shift
{ ulimit -S -x "$n" || ulimit -S -w "$n" || ulimit -S -L "$n"; } 2>/dev/null
exec "$@"`;
