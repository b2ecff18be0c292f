/** Names with more differences than this are not suggested. */
const maxDifferences = 3;

/** The known name that is likest to a misspelt one, by the number of letters that differ. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = name.slice(0, 100).toLowerCase();
  const [nearest] = known
    .map((one) => ({ one, differences: differencesOf(wanted, one.toLowerCase()) }))
    .filter(({ one, differences }) => differences <= Math.min(maxDifferences, one.length / 2))
    .toSorted((a, b) => a.differences - b.differences);
  return nearest?.one;
}

/** Levenshtein’s distance. */
function differencesOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [index, letter] of from.split('').entries()) {
    const next = [index + 1];
    for (let at = 1; at <= to.length; at += 1)
      next.push(
        Math.min(
          (row[at] ?? 0) + 1,
          (next[at - 1] ?? 0) + 1,
          (row[at - 1] ?? 0) + (letter === to[at - 1] ? 0 : 1),
        ),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}
