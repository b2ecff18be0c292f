import type { ProgramEnd, RunningProgram } from '@belay/containers';
import { bytesText, durationText } from '@belay/protocol';
import type { RerunEnd } from './verdict.js';

export interface TimedEnd extends RerunEnd {
  seconds: number;
}

/** All of it is compared, so there is a limit instead of a cut. */
const maxOutputBytes = 2 ** 20;

/** Waits until a program has ended, or ends it at its limits of time and output. Rejects when the signal aborts. */
export async function endOfRun(
  running: RunningProgram,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<TimedEnd> {
  const begun = performance.now();
  let broken: string | null = null;
  const stop = (why: string): void => {
    broken ??= why;
    void running.stop();
  };
  const timer = setTimeout(
    () => stop(`it took longer than ${durationText(seconds)}`),
    seconds * 1_000,
  );
  const cancel = (): void => stop('it was cancelled');
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const { data } of running.output) {
      bytes += data.length;
      if (bytes <= maxOutputBytes) pieces.push(data);
      else stop(`it printed more than ${bytesText(maxOutputBytes)}`);
    }
    const end = await running.ended;
    signal.throwIfAborted();
    const problem = broken ?? problemOf(end);
    return {
      exitCode: problem === null ? (end.code ?? null) : null,
      output: Buffer.concat(pieces).toString(),
      problem,
      seconds: (performance.now() - begun) / 1_000,
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

function problemOf({ code, outOfMemory }: ProgramEnd): string | null {
  if (outOfMemory) return 'the memory of its sandbox was full';
  return code === undefined ? 'its sandbox ended' : null;
}
