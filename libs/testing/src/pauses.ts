import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Checks for a while that a condition holds, to test that something does not happen, such as "no
 * call runs while the session is paused". Rejects as soon as the condition fails. The last check is
 * after the time, also in a process that was kept waiting.
 */
export async function staysTrue(
  what: string,
  forMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const end = performance.now() + forMs;
  for (;;) {
    const isLast = performance.now() >= end;
    if (!(await condition())) throw new Error(`No longer true: ${what}`);
    if (isLast) return;
    await sleep(Math.min(20, forMs));
  }
}

/**
 * A pause that the test is about, such as a failure at a random moment; `why` is the reason. To
 * wait for a condition, use `until`.
 */
export async function pause(milliseconds: number, why: string): Promise<void> {
  if (why === '') throw new Error('Say why the test pauses.');
  await sleep(milliseconds);
}
