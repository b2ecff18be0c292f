/** Aborts when the time is over; a timer can run for at most 24 days. */
export function timeBudget(seconds: number | null): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController();
  if (seconds === null || seconds > 2_000_000)
    return { signal: controller.signal, clear: () => {} };
  const timer = setTimeout(() => controller.abort(), seconds * 1000);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
