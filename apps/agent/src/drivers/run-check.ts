import { constants } from 'node:os';
import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';
import { AppError, maxCheckOutput } from '@belay/protocol';
import { ProgramProcess } from './program-process.js';

/** The output that is held before it is cut to its end. */
const slack = 4 * maxCheckOutput;
/** Standard output and error in the order in which they were written. */
const joined = ['/bin/sh', '-c', 'exec /bin/sh -c "$1" 2>&1', 'check'] as const;

export interface CheckOptions {
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface EndedCheck {
  exitCode: number;
  output: string;
  seconds: number;
}

/**
 * Runs a command with the rights of the sandbox’s programs. What it starts ends with it. Throws `timeout`, `unavailable`
 * when it cannot be started, and `cancelled` when the signal aborts.
 */
export async function runCheck(
  command: string,
  { cwd, env, timeoutMs, signal }: CheckOptions,
): Promise<EndedCheck> {
  const begun = performance.now();
  const stopped = new AbortController();
  const launch = { command: [...joined, command], env: { CI: '1' }, files: [] };
  const program = new ProgramProcess(launch, { cwd, env });
  program.input.end();
  const stop = (why: AppError): void => {
    stopped.abort(why);
    void program.end(0);
  };
  const cancel = (): void => stop(new AppError('cancelled', 'The check was cancelled.'));
  const minutes = timeoutMs / 60_000;
  const late = new AppError('timeout', `The check took longer than ${minutes} minutes.`);
  const timer = setTimeout(() => stop(late), timeoutMs);
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    const [output, { code, signal: killedBy, fault }] = await Promise.all([
      lastOf(program.output),
      program.ended,
    ]);
    stopped.signal.throwIfAborted();
    if (fault !== undefined)
      throw new AppError('unavailable', `The check could not be started: ${fault}`);
    const exitCode = code ?? 128 + (killedBy ? constants.signals[killedBy as NodeJS.Signals] : 0);
    return { exitCode, output, seconds: (performance.now() - begun) / 1_000 };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

/** The end of what a program prints. */
async function lastOf(output: Readable): Promise<string> {
  const decoder = new StringDecoder('utf8');
  let text = '';
  try {
    for await (const chunk of output) {
      text += decoder.write(chunk as Buffer);
      if (text.length > 2 * slack) text = text.slice(-slack);
    }
  } catch {
    // A process that cannot be ended kept it open.
  }
  return (text + decoder.end()).slice(-maxCheckOutput);
}
