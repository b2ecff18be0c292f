/** What comes faster than this is handed on together, in milliseconds. */
const pause = 60;
/** A page that is hidden, or covered, is not drawn: so long it waits for a frame. */
const patience = 250;

/** Gathers what comes and hands it on with a drawn frame; four times a second while nothing is drawn. */
export function perFrame<T>(take: (items: T[]) => void): (item: T) => void {
  let items: T[] = [];
  let last = 0;
  const flush = () => {
    const taken = items;
    items = [];
    last = performance.now();
    take(taken);
  };
  return (item) => {
    items.push(item);
    if (items.length > 1) return;
    setTimeout(() => withFrame(flush), Math.max(0, last + pause - performance.now()));
  };
}

function withFrame(run: () => void): void {
  const either = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    run();
  };
  const frame = requestAnimationFrame(either);
  const timer = setTimeout(either, patience);
}
