/** What the entries of a pattern mean; `fits` is called for pairs that are not wildcards. */
export interface WildcardRules<P, T> {
  /** Whether an entry stands for any number of items, or none. */
  isWildcard(entry: P): boolean;
  fits(entry: P, item: T): boolean;
}

/**
 * Whether all items match a pattern with wildcards. Only the last wildcard is ever tried again, which is enough for
 * them and limits the calls of `fits` to the product of both lengths: a pattern may come from a hostile repository.
 */
export function matchWildcards<P, T>(
  pattern: readonly P[],
  items: readonly T[],
  { isWildcard, fits }: WildcardRules<P, T>,
): boolean {
  let [at, next] = [0, 0];
  let tried: { wildcard: number; items: number } | undefined;
  while (next < items.length) {
    const [entry, item] = [pattern[at], items[next] as T];
    if (entry !== undefined && isWildcard(entry)) {
      tried = { wildcard: at, items: next };
      at += 1;
    } else if (entry !== undefined && fits(entry, item)) {
      at += 1;
      next += 1;
    } else if (tried) {
      tried.items += 1;
      at = tried.wildcard + 1;
      next = tried.items;
    } else return false;
  }
  return pattern.slice(at).every((entry) => isWildcard(entry));
}
