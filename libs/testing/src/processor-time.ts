import { PerformanceObserver, performance, type PerformanceEntry } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';

/**
 * The processor time of this thread during `run`, in milliseconds; other load of the machine does
 * not count.
 */
export function processorMs(run: () => unknown): number {
  const begun = process.threadCpuUsage();
  run();
  return millisecondsSince(begun);
}

/**
 * The same for asynchronous work. Everything that this thread does until the promise resolves
 * counts, including other work that the call waits for.
 */
export async function processorMsUntil(run: () => Promise<unknown>): Promise<number> {
  const begun = process.threadCpuUsage();
  await run();
  return millisecondsSince(begun);
}

interface Slice {
  begin: number;
  end: number;
  processorMs: number;
}

/**
 * The longest processor time, in milliseconds, that this thread works during `run` without handling
 * its timers. Garbage collection does not count, since earlier tests fill the heap too.
 */
export async function longestStallMs(run: () => Promise<unknown>): Promise<number> {
  const slices: Slice[] = [];
  let [begin, used] = [performance.now(), process.threadCpuUsage()];
  const look = (): void => {
    const end = performance.now();
    slices.push({ begin, end, processorMs: millisecondsSince(used) });
    [begin, used] = [performance.now(), process.threadCpuUsage()];
  };
  const collections: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  const timer = setInterval(look, 5);
  try {
    await run();
    look();
    // Node reports a garbage collection in a later turn of the event loop.
    await turn();
  } finally {
    clearInterval(timer);
    collections.push(...observer.takeRecords());
    observer.disconnect();
  }
  /** The part of a slice that was garbage collection, which Node reports by the clock. */
  const collecting = ({ begin: from, end }: Slice): number =>
    collections
      .filter(({ startTime }) => startTime >= from && startTime < end)
      .reduce((sum, { duration }) => sum + duration, 0) /
    (end - from);
  return Math.max(...slices.map((slice) => slice.processorMs * (1 - collecting(slice))));
}

function millisecondsSince(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1000;
}
