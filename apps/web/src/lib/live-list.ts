import { queryOptions } from '@tanstack/react-query';
import { perFrame } from './per-frame';
import { queryClient } from './query-client';
import { live } from './server';

interface Change<S> {
  id: string;
  /** Null if the item was removed. */
  summary: S | null;
}

type Watch<S> = (changed: (id: string, summary: S | null) => void) => { close(): void };

interface LiveListOptions<S> {
  name: string;
  list(): Promise<S[]>;
  /** Increases with each change of an item, so that late notices can be ignored. */
  version(summary: S): number;
}

/**
 * A cached list of summaries that is fetched and then kept up to date by notices. The response and
 * notices may arrive in any order: the newest version of each item is kept.
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
  /**
   * Watches the list and passes changes to `take`, batched by `perFrame`. Returns a function that
   * stops it.
   */
  const follow = (watch: Watch<S>, take: (changes: Change<S>[]) => void = put) => {
    const add = perFrame(take);
    const watched = watch((id, summary) => add({ id, summary }));
    // Removals while disconnected are not reported, so the list is refetched after a reconnect.
    const stop = live().onState((state) => {
      if (state === 'live') void queryClient.invalidateQueries({ ...query, exact: true });
    });
    return () => {
      stop();
      watched.close();
    };
  };
  return { query, put, follow };

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
