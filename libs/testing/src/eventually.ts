import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Retries an assertion until it holds, for effects that follow shortly after the awaited one. After
 * the timeout it fails with the last error.
 */
export async function eventually(
  assertion: () => void | Promise<void>,
  timeoutMs = 45_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    // What came while this process was kept waiting came in time.
    const isLast = performance.now() > deadline;
    try {
      return await assertion();
    } catch (error) {
      if (isLast) throw error;
    }
    await sleep(50);
  }
}
