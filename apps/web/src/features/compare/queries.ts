import { queryOptions } from '@tanstack/react-query';
import { client } from '@/lib/server';

/** Others may choose, too; what its sessions do comes with the list of sessions. */
const lookMs = 10_000;

export const comparisonQuery = (id: string) =>
  queryOptions({
    queryKey: ['comparison', id],
    queryFn: () => client.comparisons.get(id),
    refetchInterval: lookMs,
  });
