import { queryOptions } from '@tanstack/react-query';
import { queryClient } from './query';

interface Change<S> {
  id: string;
  /** Null when it was removed. */
  summary: S | null;
}

export interface LiveListOptions<S> {
  name: string;
  list(): Promise<S[]>;
  /** Grows with each change of one; what comes late is known by it. */
  version(summary: S): number;
}

/**
 * A list of summaries in the cache: asked for, and then kept up to date by notices. The answer and the notices come
 * on ways of their own, in any order: the newest of each counts.
 */
export function liveList<S extends { id: string }>({ name, list, version }: LiveListOptions<S>) {
  const meanwhile = new Set<Change<S>[]>();
  const query = queryOptions({
    queryKey: [name],
    queryFn: async () => {
      const heard: Change<S>[] = [];
      meanwhile.add(heard);
      try {
        return changed(await list(), heard);
      } finally {
        meanwhile.delete(heard);
      }
    },
    staleTime: Infinity,
  });
  const put = (changes: readonly Change<S>[]) => {
    for (const heard of meanwhile) heard.push(...changes);
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
