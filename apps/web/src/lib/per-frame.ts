/** What comes faster than this is handed on together, in milliseconds. */
const pause = 60;

/** Gathers what comes and hands it on with a drawn frame; four times a second while hidden. */
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
    if (document.hidden) setTimeout(flush, 250);
    else
      setTimeout(() => requestAnimationFrame(flush), Math.max(0, last + pause - performance.now()));
  };
}
