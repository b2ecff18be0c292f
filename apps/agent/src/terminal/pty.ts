import { spawn } from '@lydell/node-pty';

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
  onData(bytes: Buffer): void;
  /** Called once, after the last data. */
  onExit(end: { code: number; signal: number }): void;
}

/** Starts a process in a pseudoterminal of its own. Throws when the program cannot be started. */
export function openPty(options: PtyOptions): Pty {
  const { file, args, cwd, env, columns, rows } = options;
  const pty = spawn(file, args, {
    name: 'xterm-256color',
    cols: columns,
    rows,
    cwd,
    env,
    encoding: null,
  });
  // Typed as text, but bytes when the encoding is null.
  pty.onData((data: unknown) => options.onData(data as Buffer));
  pty.onExit(({ exitCode, signal }) => options.onExit({ code: exitCode, signal: signal ?? 0 }));
  return pty;
}
