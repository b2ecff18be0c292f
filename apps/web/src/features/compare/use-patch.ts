import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { isEnded, type SessionSummary } from '@belay/protocol';
import { filesOfPatch, type DiffedFile } from '@/features/changes/diffed-files';
import { queryClient } from '@/lib/query-client';
import { client } from '@/lib/server';

/** How often a running session’s changes are fetched again. */
const lookMs = 5_000;
/** Larger patches are shown only on the session’s own page. */
const maxBytes = 2 * 2 ** 20;

export interface SessionPatch {
  files: readonly DiffedFile[];
  tooLarge: boolean;
}

/** The session’s changes so far; undefined until they are loaded. */
export function usePatch(session: SessionSummary): SessionPatch | undefined {
  const { data } = useQuery({
    ...patchQuery(session),
    refetchInterval: isEnded(session.state) ? false : lookMs,
    placeholderData: keepPreviousData,
    // A starting session has no sandbox yet, and so no changes.
    enabled: session.state !== 'starting',
  });
  return data;
}

export async function hasChanges(session: SessionSummary): Promise<boolean> {
  const { files, tooLarge } = await queryClient.ensureQueryData(patchQuery(session));
  return tooLarge || files.length > 0;
}

const patchQuery = ({ id, state, steps }: SessionSummary) =>
  queryOptions({
    queryKey: ['patch', id, isEnded(state) ? `${state} ${steps}` : 'working'],
    queryFn: async () => patchOf(await client.sessions.patch(id)),
    retry: 0,
  });

function patchOf(patch: Uint8Array): SessionPatch {
  if (patch.length > maxBytes) return { files: [], tooLarge: true };
  return { files: filesOfPatch(new TextDecoder().decode(patch)), tooLarge: false };
}
