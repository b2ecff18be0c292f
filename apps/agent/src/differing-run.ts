export interface ChangedLines {
  /** First line of the change, from 1. */
  line: number;
  added: string[];
  removed: number;
}

/** The smallest run in which two lists of lines differ; null if they are equal. */
export function differingRun(old: readonly string[], now: readonly string[]): ChangedLines | null {
  let head = 0;
  const shortest = Math.min(old.length, now.length);
  while (head < shortest && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < shortest - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const removed = old.length - head - tail;
  const added = now.slice(head, now.length - tail);
  return removed === 0 && added.length === 0 ? null : { line: head + 1, added, removed };
}
