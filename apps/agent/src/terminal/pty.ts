import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReadStream } from 'node:tty';
import { requireBinary } from '@lydell/node-pty/requireBinary.js';
import { ignoreError } from '@belay/protocol';
import { asUser } from '../user-separation.js';

const native = requireBinary('pty.node');
const readSize = 64 * 1024;
/**
 * How long output may still arrive after the process has ended, while another process keeps the pseudoterminal open.
 */
const lastOutputTimeoutMs = 200;
/**
 * The native part starts a thread for each pseudoterminal, after its process. Failing to create the thread would end
 * the whole agent, so some processes are kept free.
 */
const spareProcesses = 8;
/** The starting process’s user. */
const same = -1;

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
 * pseudoterminals. Uses node-pty's native part without its stream, which allocates 64 KiB for each 4 KiB that a
 * pseudoterminal gives: with much output, collecting that garbage was a third of the agent's work.
 */
export function openPty({ onData, onExit, ...options }: PtyOptions): Pty {
  const { cwd, columns, rows } = options;
  const { file, args } = asUser(options.file, options.args);
  const env = Object.entries({ ...options.env, PWD: cwd, TERM: 'xterm-256color' });
  const pairs = env.map(([name, value]) => `${name}=${value}`);
  let waiting: NodeJS.Timeout | undefined;
  const exited = (code: number, signal: number): void => {
    const report = () => onExit({ code, signal });
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
  };
  const { fd, pid } = fork(() =>
    native.fork(file, args, pairs, cwd, columns, rows, same, same, true, '', exited),
  );
  const buffer = Buffer.allocUnsafeSlow(readSize);
  const callback = (size: number): boolean => {
    onData(buffer.subarray(0, size));
    return true;
  };
  const stream = new ReadStream(fd, { onread: { buffer, callback } });
  stream.on('error', ignoreError('EIO is the end of a pseudoterminal that nobody holds open'));
  stream.resume();
  return {
    pid,
    write: (data) => void stream.write(data),
    resize: (toColumns, toRows) => {
      if (!stream.destroyed) native.resize(fd, toColumns, toRows);
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

/**
 * The native part reports no error code; its only error is that forkpty(3) finds no free process or pseudoterminal.
 */
function fork<T>(start: () => T): T {
  try {
    if (freeProcesses() < spareProcesses) throw new Error('Too few processes are free.');
    return start();
  } catch (cause) {
    const error = new Error('No process or pseudoterminal is free.', { cause });
    throw Object.assign(error, { code: 'EAGAIN' });
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
