import { queryOptions, useQuery } from '@tanstack/react-query';
import { client, recorded } from '@/lib/server';

const roleQuery = queryOptions({
  queryKey: ['role'],
  queryFn: () => client.server.me(),
  staleTime: Infinity,
  enabled: !recorded,
});

/** Whether the user can only watch here: a recording, or a token of viewers. Until it is known, everything is offered. */
export function useReadOnly(): boolean {
  const { data } = useQuery(roleQuery);
  return recorded || data?.role === 'viewer';
}

/** Whether the settings of the server can only be read here. Until it is known, everything is offered. */
export function useReadOnlySettings(): boolean {
  const { data } = useQuery(roleQuery);
  return recorded || (data !== undefined && data.scope !== 'admin');
}

/** The name of the user who logged in with a password; undefined for whoever came in by a token or a provider. */
export function usePasswordUser(): string | undefined {
  const { data } = useQuery(roleQuery);
  return !recorded && data?.hasPassword ? data.label : undefined;
}

/** Whether the user manages the server: settings, keys, rules, tokens and users. False until it is known. */
export function useAdmin(): boolean {
  const { data } = useQuery(roleQuery);
  return !recorded && data?.scope === 'admin';
}
