import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilOptions {
  /** 45 s by default: generous, for machines under load. */
  timeoutMs?: number;
  intervalMs?: number;
  /** The state to show in the error of a timeout. */
  state?(): unknown;
}

/**
 * Polls until `probe` returns a truthy value, and resolves to it; a fixed sleep would be too short
 * or too slow. Rejects when `probe` throws, and after the timeout with the name of the condition.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  { timeoutMs = 45_000, intervalMs = 5, state }: UntilOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    // What came while this process was kept waiting came in time.
    const isLast = performance.now() > deadline;
    const value = await probe();
    if (value) return value as Exclude<T, undefined | null | false>;
    if (isLast) {
      const seen = state ? `\n${String(await state())}` : '';
      throw new Error(`Not within ${timeoutMs / 1000} s: ${what}${seen}`);
    }
    await sleep(intervalMs);
  }
}
