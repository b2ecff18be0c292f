import { useQuery } from '@tanstack/react-query';
import { errorFrom, type SessionSummary } from '@belay/protocol';
import { client } from '@/lib/server';

/** The target of a push, as the user typed it. */
export interface TypedTarget {
  url: string;
  base: string;
  branch: string;
}

/** What would be pushed to the target, and a drafted commit message. */
export function usePrepared(session: SessionSummary, target: TypedTarget) {
  const { id, lastSeq } = session;
  const prepared = useQuery({
    queryKey: ['publish', id, lastSeq, target],
    queryFn: () => client.sessions.preparePublish(id, bodyOf(target)),
    enabled: hasTarget(session, target),
    retry: false,
    gcTime: 0,
  });
  const { data, isFetching } = useQuery({
    queryKey: ['publish-message', id, lastSeq],
    queryFn: () => client.sessions.draftMessage(id),
    enabled: prepared.isSuccess,
    retry: false,
    staleTime: Infinity,
  });
  const drafted = { message: data?.message ?? '', model: data?.model, isFetching };
  const fault = prepared.isError && !prepared.isFetching ? errorFrom(prepared.error) : null;
  return {
    // After an error, earlier data is no longer what would be pushed.
    data: prepared.isError ? undefined : prepared.data,
    isFetching: prepared.isFetching && !prepared.data,
    refetch: prepared.refetch,
    drafted,
    fault,
  };
}

/** A session that was not cloned has no repository until the user names one. */
export const hasTarget = ({ cloned }: SessionSummary, { url }: TypedTarget): boolean =>
  cloned || url.trim() !== '';

export type DraftedCommit = ReturnType<typeof usePrepared>['drafted'];

export const bodyOf = ({ url, base, branch }: TypedTarget) => ({
  branch: branch.trim(),
  ...(url.trim() && { url: url.trim() }),
  ...(base.trim() && { base: base.trim() }),
});
