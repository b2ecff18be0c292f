import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Checks for a time that a condition holds, for what must not happen: "no call runs while the session is paused".
 * Rejects as soon as it does not hold.
 */
export async function staysTrue(
  what: string,
  forMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const end = performance.now() + forMs;
  for (;;) {
    if (!(await condition())) throw new Error(`No longer true: ${what}`);
    if (performance.now() >= end) return;
    await sleep(Math.min(20, forMs));
  }
}

/**
 * A pause that is itself the subject of a test, such as a failure at a random moment; `why` gives the
 * reason. To wait for a condition, use `until`.
 */
export async function pause(milliseconds: number, why: string): Promise<void> {
  if (why === '') throw new Error('Say why the test pauses.');
  await sleep(milliseconds);
}
