import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { ReadStream } from 'node:tty';
import { ignoreError } from '@belay/protocol';
import { ownProgram } from '../find-program.js';
import { asUser, type Invocation } from '../user-separation.js';
import { openPseudoterminal, resizePseudoterminal, type Pseudoterminal } from './pseudoterminal.js';

const readSize = 64 * 1024;
/**
 * How long output may still arrive after the process has ended, while another process keeps the pseudoterminal open.
 */
const lastOutputTimeoutMs = 200;
/** A shell that can hardly start a program is of no use, and waits long for each. */
const spareProcesses = 8;

/** A pseudoterminal and the process that leads its session. */
export interface Pty {
  readonly pid: number;
  write(data: string): void;
  resize(columns: number, rows: number): void;
  /** Stops reading, so that programs block once the kernel's buffer is full. */
  pause(): void;
  resume(): void;
  kill(signal: NodeJS.Signals): void;
}

export interface PtyOptions {
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  columns: number;
  rows: number;
  /** The bytes are valid only during the call; the buffer is reused. */
  onData(bytes: Buffer): void;
  /** Called once, after the last data. */
  onExit(end: { code: number; signal: number }): void;
}

/**
 * Starts a process in a pseudoterminal of its own. Throws with the code EAGAIN when there are too many processes or
 * pseudoterminals. node-pty is not used: it starts a thread after each process, and where programs have taken the last
 * place for one meanwhile, it ends this whole process.
 */
export function openPty({ onData, onExit, ...options }: PtyOptions): Pty {
  const { child, master, slave, pid } = start(options);
  const buffer = Buffer.allocUnsafeSlow(readSize);
  const callback = (size: number): boolean => {
    onData(buffer.subarray(0, size));
    return true;
  };
  const stream = new ReadStream(master, { onread: { buffer, callback } });
  stream.on('error', ignoreError('EIO is the end of a pseudoterminal that nobody holds open'));
  stream.resume();
  let waiting: NodeJS.Timeout | undefined;
  child.once('exit', (code, signal) => {
    closeSync(slave);
    const report = () =>
      onExit({ code: code ?? 0, signal: signal ? constants.signals[signal] : 0 });
    if (stream.closed) return report();
    stream.once('close', () => {
      clearTimeout(waiting);
      report();
    });
    const end = () => {
      // A full buffer is read first, so that no output is lost.
      if (stream.isPaused()) waiting?.refresh();
      else stream.destroy();
    };
    // Pending output is read first, even if the agent was delayed, because its timers run before reads.
    waiting = setTimeout(() => setImmediate(end), lastOutputTimeoutMs);
  });
  return {
    pid,
    write: (data) => void stream.write(data),
    resize: (toColumns, toRows) => {
      if (!stream.destroyed) resizePseudoterminal(master, toColumns, toRows);
    },
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    kill: (signal) => {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended already.
      }
    },
  };
}

/** Makes its standard input the terminal of a new session. */
const setsid = ownProgram('setsid');

type Start = Pick<PtyOptions, 'file' | 'args' | 'cwd' | 'env' | 'columns' | 'rows'>;

interface Started {
  child: ChildProcess;
  pid: number;
}

function start({ file, args, cwd, env, columns, rows }: Start): Started & Pseudoterminal {
  if (setsid === undefined) {
    throw new Error('The program setsid is missing here. Install the package util-linux.');
  }
  const program = asUser(setsid, ['-c', file, ...args]);
  try {
    if (freeProcesses() < spareProcesses) throw new Error('Too few processes are free.');
    const pseudoterminal = openPseudoterminal(columns, rows);
    return { ...pseudoterminal, ...startIn(pseudoterminal, program, { cwd, env }) };
  } catch (cause) {
    const error = new Error('No process or pseudoterminal is free.', { cause });
    throw Object.assign(error, { code: 'EAGAIN' });
  }
}

/**
 * The slave stays open until the process has exited, so that it cannot be gone before the process opens it. Closes both
 * sides if nothing was started.
 */
function startIn(
  { master, slave }: Pseudoterminal,
  { file, args }: Invocation,
  { cwd, env }: Pick<PtyOptions, 'cwd' | 'env'>,
): Started {
  try {
    const child = spawn(file, args, {
      cwd,
      env: { ...env, PWD: cwd, TERM: 'xterm-256color' },
      stdio: [slave, slave, slave],
    });
    child.once('error', ignoreError('a missing pid says at once that it was not started'));
    if (child.pid === undefined) throw new Error('No process can be started.');
    return { child, pid: child.pid };
  } catch (error) {
    for (const fd of [master, slave]) closeSync(fd);
    throw error;
  }
}

/** How many more processes and threads may start here, according to limits of cgroups of version 2 or 1. */
export function freeProcesses(groups = ['/sys/fs/cgroup', '/sys/fs/cgroup/pids']): number {
  for (const group of groups) {
    const [most, now] = ['pids.max', 'pids.current'].map((name) => numberIn(join(group, name)));
    if (most !== undefined && now !== undefined) return most - now;
  }
  return Infinity;
}

function numberIn(file: string): number | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === 'max' ? Infinity : Number(text);
  } catch {
    return undefined; // No such group: nothing is limited by it.
  }
}
