/** Gathers what comes and hands it on once per drawn frame; four times a second while hidden. */
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
    if (document.hidden) setTimeout(flush, 250);
    else requestAnimationFrame(flush);
  };
}
