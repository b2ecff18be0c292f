import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { ProgramLaunch } from '@belay/protocol';
import { endProcesses } from '../terminal/end-processes.js';
import {
  isProcessAlive,
  listProcesses,
  processesFrom,
  type Process,
} from '../terminal/process-tree.js';
import { asUser } from '../user-separation.js';
import type { ProgramEnd } from './program-end.js';
import { writeFiles } from './program-files.js';

/** The lines of a program’s errors that are kept, and their characters. */
const keptLines = 20;
const keptCharacters = 300;

/** A running program of an agent, with all processes that it starts. */
export class ProgramProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #found = new Map<number, Process>();
  readonly #lines: string[] = [];
  /** Never rejects. */
  readonly ended: Promise<ProgramEnd>;

  /** Starts the program in a folder, with these variables in addition. */
  constructor(launch: ProgramLaunch, { cwd, env }: { cwd: string; env: Record<string, string> }) {
    const [program = '', ...rest] = launch.command;
    const { file, args } = asUser(program, rest);
    writeFiles(launch.files);
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
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
    await this.ended;
  }

  /** Its processes, and those that have lost their parents since they were found. */
  #living(): Process[] {
    const { pid } = this.#child;
    if (pid === undefined) return [];
    const all = listProcesses();
    const own = all.filter((one) => one.pid === pid);
    const started = processesFrom({ numbers: noNumbers, shell: pid, since: 0 }, all);
    for (const one of [...own, ...started]) this.#found.set(one.pid, one);
    return [...this.#found.values()].filter(isProcessAlive);
  }
}

/** No command of a terminal has started them. */
const noNumbers = { first: 1, last: 0 };
