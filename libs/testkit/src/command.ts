import { spawn } from 'node:child_process';
import { built } from './environment.js';

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built `belay` command against a data folder. */
export async function belay(
  data: string,
  args: string[],
  options: {
    cwd?: string;
    env?: Record<string, string>;
    input?: string;
    /** Milliseconds until the command is killed with SIGKILL. */
    killAfter?: number;
    /** Both receive all output so far. */
    onStdout?: (text: string, kill: (signal: NodeJS.Signals) => void) => void;
    onStderr?: (text: string, kill: (signal: NodeJS.Signals) => void) => void;
  } = {},
): Promise<CommandResult> {
  const child = spawn(process.execPath, [built('apps/cli/dist/bundle/belay.cjs'), ...args], {
    cwd: options.cwd,
    env: { ...process.env, BELAY_DATA: data, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(options.killAfter !== undefined && { timeout: options.killAfter, killSignal: 'SIGKILL' }),
  });
  // A command that ends early does not read its input.
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  const result = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    result.stdout += text;
    options.onStdout?.(result.stdout, (signal) => child.kill(signal));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    result.stderr += text;
    options.onStderr?.(result.stderr, (signal) => child.kill(signal));
  });
  const code = await new Promise<number | null>((done) => child.on('close', done));
  return { code, ...result };
}
