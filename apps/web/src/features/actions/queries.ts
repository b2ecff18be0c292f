import { queryOptions } from '@tanstack/react-query';
import { client } from '@/lib/server';

export const actionsQuery = queryOptions({
  queryKey: ['actions'],
  queryFn: () => client.actions.list(),
});
