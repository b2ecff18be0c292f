import { queryOptions, useQuery } from '@tanstack/react-query';
import { client, recorded } from '@/lib/server';

const roleQuery = queryOptions({
  queryKey: ['role'],
  queryFn: () => client.server.me(),
  staleTime: Infinity,
  enabled: !recorded,
});

/** Whether the user can only watch: in a recording, or with a viewer’s token. False until known. */
export function useReadOnly(): boolean {
  const { data } = useQuery(roleQuery);
  return recorded || data?.role === 'viewer';
}

/** Whether the user can only read the server’s settings. False until known. */
export function useReadOnlySettings(): boolean {
  const { data } = useQuery(roleQuery);
  return recorded || (data !== undefined && data.scope !== 'admin');
}

/**
 * The name of a user who logged in with a password; undefined after a login by token or provider.
 */
export function usePasswordUser(): string | undefined {
  const { data } = useQuery(roleQuery);
  return !recorded && data?.hasPassword ? data.label : undefined;
}

/**
 * Whether the user manages the server: settings, keys, rules, tokens and users. False until known.
 */
export function useAdmin(): boolean {
  const { data } = useQuery(roleQuery);
  return !recorded && data?.scope === 'admin';
}

/** Whether the user sees only some sessions, and so nothing else of the server. False until known. */
export function useSeesOnlySome(): boolean {
  const { data } = useQuery(roleQuery);
  return data?.sessions === 'some';
}
