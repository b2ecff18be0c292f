/** Less than the 5 s that a pod has, and the 10 s of Docker. */
const defaultTimeoutMs = 4_000;

/**
 * Aborted by SIGTERM. The process then ends within `timeoutMs`, however little its server responds; by a second SIGTERM
 * at once. Its exit code is 143.
 */
export function endingBySignal(timeoutMs = defaultTimeoutMs): AbortSignal {
  const ending = new AbortController();
  process.once('SIGTERM', () => {
    process.exitCode = 143;
    setTimeout(() => process.exit(), timeoutMs).unref();
    ending.abort();
  });
  return ending.signal;
}
