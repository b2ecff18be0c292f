/** The minimum time between batches, in milliseconds. */
const pauseMs = 100;
/** How long to wait for a frame, in milliseconds: hidden or covered pages get none. */
const maxWaitMs = 250;

/** Pending flushes. All run in the same frame, so that the page renders once for all of them. */
const waiting = new Set<() => void>();
let last = 0;

/**
 * Gathers items and passes them to `take` in an animation frame; without frames, after at most
 * `pauseMs` + `maxWaitMs`.
 */
export function perFrame<T>(take: (items: T[]) => void): (item: T) => void {
  let items: T[] = [];
  const flush = () => {
    const taken = items;
    items = [];
    take(taken);
  };
  return (item) => {
    items.push(item);
    if (items.length > 1) return;
    waiting.add(flush);
    if (waiting.size > 1) return;
    setTimeout(() => withFrame(flushAll), Math.max(0, last + pauseMs - performance.now()));
  };
}

function flushAll(): void {
  const flushes = [...waiting];
  waiting.clear();
  last = performance.now();
  for (const flush of flushes) flush();
}

function withFrame(run: () => void): void {
  const either = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    run();
  };
  const frame = requestAnimationFrame(either);
  const timer = setTimeout(either, maxWaitMs);
}
