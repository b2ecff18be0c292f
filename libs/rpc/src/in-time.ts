/**
 * Settles as `work` does, or after `ms` as `late`, which returns a value or throws. The work itself goes on, and its
 * later failure is ignored. The timer does not keep the process alive. After a stall of the event loop, what has arrived
 * meanwhile is read first and is not late.
 */
export async function inTime<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => setImmediate(resolve), ms).unref();
  try {
    return await Promise.race([work, promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
