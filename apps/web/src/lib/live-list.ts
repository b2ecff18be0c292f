import { queryOptions } from '@tanstack/react-query';
import { queryClient } from './query-client';

interface Change<S> {
  id: string;
  /** Null when it was removed. */
  summary: S | null;
}

interface LiveListOptions<S> {
  name: string;
  list(): Promise<S[]>;
  /** Grows with each change of an item, so that late notices are recognized. */
  version(summary: S): number;
}

/**
 * A list of summaries in the cache: fetched, and then kept up to date by notices. The response and the notices arrive
 * in any order: the newest version of each item counts.
 */
export function liveList<S extends { id: string }>({ name, list, version }: LiveListOptions<S>) {
  const meanwhile = new Set<Change<S>[]>();
  const query = queryOptions({
    queryKey: [name],
    queryFn: async () => {
      const received: Change<S>[] = [];
      meanwhile.add(received);
      try {
        return changed(await list(), received);
      } finally {
        meanwhile.delete(received);
      }
    },
    staleTime: Infinity,
  });
  const put = (changes: readonly Change<S>[]) => {
    for (const received of meanwhile) received.push(...changes);
    queryClient.setQueryData(query.queryKey, (known = []) => changed(known, changes));
  };
  return { query, put };

  function changed(known: readonly S[], changes: readonly Change<S>[]): S[] {
    const byId = new Map(known.map((summary) => [summary.id, summary]));
    for (const { id, summary } of changes) {
      const before = byId.get(id);
      if (!summary) byId.delete(id);
      else if (!before || version(summary) >= version(before)) byId.set(id, summary);
    }
    return [...byId.values()];
  }
}
