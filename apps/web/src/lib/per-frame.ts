/** Calls closer together than this are batched, in milliseconds. */
const pauseMs = 100;
/** A page that is hidden, or covered, is not drawn: so long it waits for a frame. */
const maxWaitMs = 250;

/** Those that have something to hand on. All go with one frame: the page is rendered once for all of them. */
const waiting = new Set<() => void>();
let last = 0;

/** Gathers what comes and hands it on with a drawn frame; four times a second while nothing is drawn. */
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
