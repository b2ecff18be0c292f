import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Tries an assertion again until it holds, for what comes a moment after what was waited for. After the timeout it
 * fails as the last try did.
 */
export async function eventually(
  assertion: () => void | Promise<void>,
  timeoutMs = 45_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(50);
  }
}
