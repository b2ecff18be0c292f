import { setTimeout as sleep } from 'node:timers/promises';

/** How long the process limit may be exhausted, for example because a killed command is still ending. */
const forkTimeoutMs = 10_000;
const retryDelayMs = 100;

/**
 * Starts a program, and retries while the process limit prevents it. Rejects like `start`: immediately with other
 * errors, after 10 s with this one. Resolves without a start when cancelled.
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
