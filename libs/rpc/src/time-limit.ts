/** The longest that a timer can run. */
const longestMs = 2 ** 31 - 1;

/**
 * Aborts as `signal` does, or with a `TimeoutError` once the time is over. Unlike `AbortSignal.timeout`, it takes any
 * number of milliseconds, such as a fraction that a client sent; more than 24 days are 24 days.
 */
export function timeLimit(ms: number, signal?: AbortSignal): AbortSignal {
  const limit = AbortSignal.timeout(Math.ceil(Math.min(Math.max(ms, 0), longestMs)));
  return signal ? AbortSignal.any([signal, limit]) : limit;
}
