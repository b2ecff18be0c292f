import { setTimeout as sleep } from 'node:timers/promises';

/** How long the limit of processes may be reached: a command that was killed may just be ending. */
const forkTimeoutMs = 10_000;
const retryDelayMs = 100;

/**
 * Starts a program, and tries again while the limit of processes prevents it. Rejects as `start` does: with another
 * error at once, with this one after 10 s. Resolves without a start when it is cancelled.
 */
export async function retryFork(
  start: () => Promise<void>,
  cancelled: () => boolean,
): Promise<void> {
  const until = Date.now() + forkTimeoutMs;
  while (!cancelled()) {
    try {
      return await start();
    } catch (error) {
      if (!isProcessLimit(error) || Date.now() >= until) throw error;
    }
    await sleep(retryDelayMs);
  }
}

/** Whether a program could not be started because there are too many processes. */
export function isProcessLimit(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
