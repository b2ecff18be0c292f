/** The candidate that a text most likely means; undefined if it resembles none. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const wanted = text.toLowerCase();
  const containing = candidates.filter((each) => each.toLowerCase().includes(wanted));
  if (containing.length > 0) return containing.toSorted((a, b) => a.length - b.length)[0];
  const [best] = candidates
    .map((candidate) => ({ candidate, changes: changesBetween(wanted, candidate.toLowerCase()) }))
    .toSorted((a, b) => a.changes - b.changes);
  return best && best.changes <= Math.max(2, wanted.length / 3) ? best.candidate : undefined;
}

/** How many characters must be added, removed or replaced (Levenshtein). */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, letter] of Array.from(one).entries()) {
    const next = [at + 1];
    for (const [index, each] of Array.from(other).entries()) {
      const replaced = (row[index] ?? 0) + (letter === each ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
