import { queryOptions, useQuery } from '@tanstack/react-query';
import { client, recorded } from '@/lib/server';

export const roleQuery = queryOptions({
  queryKey: ['role'],
  queryFn: async () => (await client.me()).role,
  staleTime: Infinity,
  enabled: !recorded,
});

/** Whether a person can only watch here: a recording, or the viewer's token. Until it is known, nothing is offered less. */
export function useReadOnly(): boolean {
  const { data } = useQuery(roleQuery);
  return recorded || data === 'viewer';
}
