import { ReadStream } from 'node:tty';
import { requireBinary } from '@lydell/node-pty/requireBinary.js';

const native = requireBinary('pty.node');
const readSize = 64 * 1024;
/** How long output may still come, in ms, when the process has ended and another one keeps the pseudoterminal open. */
const lastOutput = 200;
/** The user of the process that starts it. */
const same = -1;

/** A pseudoterminal with the process that leads its session. */
export interface Pty {
  readonly pid: number;
  write(data: string): void;
  resize(columns: number, rows: number): void;
  /** Stops reading, so that what runs in it blocks once the kernel's buffer is full. */
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
  /** The bytes are lent: the next ones come in their place. */
  onData(bytes: Buffer): void;
  /** Called once, after the last data. */
  onExit(end: { code: number; signal: number }): void;
}

/**
 * Starts a process in a pseudoterminal of its own. Throws when the program cannot be started.
 *
 * Uses node-pty's native part without its stream, which takes 64 KiB of fresh memory for each 4 KiB that a
 * pseudoterminal gives: in a flood, collecting them was a third of the agent's work.
 */
export function openPty({ onData, onExit, ...options }: PtyOptions): Pty {
  const { file, args, cwd, columns, rows } = options;
  const env = Object.entries({ ...options.env, PWD: cwd, TERM: 'xterm-256color' });
  const pairs = env.map(([name, value]) => `${name}=${value}`);
  let waiting: NodeJS.Timeout | undefined;
  const exited = (code: number, signal: number): void => {
    const tell = () => onExit({ code, signal });
    if (stream.closed) return tell();
    stream.once('close', () => {
      clearTimeout(waiting);
      tell();
    });
    waiting = setTimeout(() => {
      // What a full buffer holds back is not lost.
      if (stream.isPaused()) waiting?.refresh();
      else stream.destroy();
    }, lastOutput);
  };
  const { fd, pid } = native.fork(
    file,
    args,
    pairs,
    cwd,
    columns,
    rows,
    same,
    same,
    true,
    '',
    exited,
  );
  const buffer = Buffer.allocUnsafeSlow(readSize);
  const callback = (size: number): boolean => {
    onData(buffer.subarray(0, size));
    return true;
  };
  const stream = new ReadStream(fd, { onread: { buffer, callback } });
  // EIO is how a pseudoterminal ends once nobody holds it open.
  stream.on('error', () => undefined);
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
