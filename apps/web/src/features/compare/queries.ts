import { queryOptions } from '@tanstack/react-query';
import { client } from '@/lib/server';

/** Other users may keep a session, too. Session states come with the live list of sessions. */
const lookMs = 10_000;

export const comparisonQuery = (id: string) =>
  queryOptions({
    queryKey: ['comparison', id],
    queryFn: () => client.comparisons.get(id),
    refetchInterval: lookMs,
  });
