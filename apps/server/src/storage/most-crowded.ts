/**
 * The entry that makes way at a limit: the oldest of the owner who has the most, so that nobody displaces what belongs
 * to others. Entries are in their order, oldest first, with the newest among them.
 */
export function mostCrowded<T>(
  entries: readonly T[],
  ownerOf: (entry: T) => string,
): T | undefined {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const owner = ownerOf(entry);
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  return entries.find((entry) => counts.get(ownerOf(entry)) === most);
}
