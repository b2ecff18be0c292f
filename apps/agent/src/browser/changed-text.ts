/** A shorter text is shown as a whole. */
const shortText = 2_000;
/** Unchanged lines that are shown on each side. */
const around = 2;

/**
 * A page’s text for a reader who was shown its text before: the lines from the first change to the last, and the number
 * of those above and below.
 */
export function changedText(before: string | null, now: string): string {
  if (before === null || now.length <= shortText) return now;
  if (before === now) return '[The text is the same as before; browser.read shows it.]';
  const [old, lines] = [before.split('\n'), now.split('\n')];
  let head = 0;
  const shortest = Math.min(old.length, lines.length);
  while (head < shortest && old[head] === lines[head]) head++;
  let tail = 0;
  while (tail < shortest - head && old.at(-1 - tail) === lines.at(-1 - tail)) tail++;
  const [above, below] = [Math.max(0, head - around), Math.max(0, tail - around)];
  return [
    ...(above > 0 ? [`[${above} lines as before]`] : []),
    ...lines.slice(above, lines.length - below),
    ...(below > 0 ? [`[${below} lines as before; browser.read shows all]`] : []),
  ].join('\n');
}
