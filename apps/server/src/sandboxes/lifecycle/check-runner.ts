import { StringDecoder } from 'node:string_decoder';
import { Injectable } from '@nestjs/common';
import { DockerClient, DockerHost, outputPieces, type Execution } from '@belay/containers';
import { AppError, ignoreError } from '@belay/protocol';
import { Sandboxes } from './sandboxes.js';

/** How long a check may take. */
const checkTimeoutMs = 10 * 60_000;
/** Only the end of a check’s output is kept. */
const maxOutput = 16_000;
const lookMs = 1_000;
/** The buffered output before it is cut to its end. */
const slack = 64 * 1024;

export interface CheckRun {
  exitCode: number;
  output: string;
  seconds: number;
}

/**
 * Runs a command in a session’s sandbox as a separate program, with the user of the sandbox’s programs and without the
 * agent: the engine reports its exit code.
 */
@Injectable()
export class CheckRunner {
  constructor(
    private readonly docker: DockerClient,
    private readonly host: DockerHost,
    private readonly sandboxes: Sandboxes,
  ) {}

  /** Throws `conflict` without a container, `timeout`, and `cancelled` when the signal is aborted. */
  async runCheck(session: string, command: string, signal: AbortSignal): Promise<CheckRun> {
    const id = this.sandboxes.ofSession(session)?.id;
    const agent = id === undefined ? undefined : await this.host.agentOf(id);
    if (!agent) throw new AppError('conflict', 'The session has no sandbox now.');
    const { container, user } = agent;
    const begun = performance.now();
    const begin = (program: string, ...args: string[]) =>
      this.docker.exec(container, {
        command: ['/bin/sh', '-c', program, 'check', ...args],
        user,
        env: ['CI=1'],
      });
    // The engine cannot end a program itself, so the first line is the id of its process group.
    const running = await begin('echo $$; exec /bin/sh -c "$1"', command);
    const printed = { text: '' };
    const kill = async (): Promise<void> => {
      const number = /^(\d+)\n/.exec(printed.text)?.[1];
      if (number !== undefined) (await begin('kill -9 -"$1"', number)).output.resume();
    };
    try {
      const exitCode = await ended(running, printed, signal);
      const output = printed.text.replace(/^\d+\n/, '').slice(-maxOutput);
      return { exitCode, output, seconds: (performance.now() - begun) / 1_000 };
    } catch (error) {
      await kill().catch(ignoreError('the sandbox ends it with everything else'));
      throw error;
    }
  }
}

/** Resolves when the program has ended, even if its children keep its output open. */
async function ended(
  { output, exitCode }: Execution,
  printed: { text: string },
  signal: AbortSignal,
): Promise<number> {
  const closed = Promise.withResolvers<void>();
  const stop = (): void => void output.destroy();
  const look = setInterval(() => {
    exitCode().then(
      (code) => code !== null && setTimeout(stop, lookMs).unref(),
      () => stop(),
    );
  }, lookMs);
  const timer = setTimeout(() => {
    closed.reject(
      new AppError('timeout', `The check took longer than ${checkTimeoutMs / 60_000} minutes.`),
    );
    stop();
  }, checkTimeoutMs);
  const abort = (): void => {
    closed.reject(new AppError('cancelled', 'The check was cancelled.'));
    stop();
  };
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  collect(output, printed).then(closed.resolve, () => closed.resolve());
  try {
    await closed.promise;
  } finally {
    clearInterval(look);
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
  const code = await exitCode();
  if (code !== null) return code;
  throw new AppError('unavailable', 'The engine lost the check before its end. Run it again.');
}

/** The first line and the end of what a program prints. */
async function collect(output: AsyncIterable<Buffer>, printed: { text: string }): Promise<void> {
  const decoder = new StringDecoder('utf8');
  for await (const { data } of outputPieces(output)) {
    printed.text += decoder.write(data);
    if (printed.text.length <= 2 * slack) continue;
    const first = /^\d+\n/.exec(printed.text)?.[0] ?? '';
    printed.text = first + printed.text.slice(-slack);
  }
  printed.text += decoder.end();
}
