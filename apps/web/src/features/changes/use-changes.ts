import { queryOptions, useQuery } from '@tanstack/react-query';
import { isEnded, totalOfChange, type ChangeTotal } from '@belay/protocol';
import type { Commit } from '@/features/session-log/log-view';
import { useIsPast, useSessionId, useView } from '@/features/session-log/session-context';
import { client } from '@/lib/server';
import { diffedFiles, filesOfPatch, type DiffedFile } from './diffed-files';
import type { CommitRange } from './use-fetched-files';

/** The changes of one step, or of all up to the displayed moment; `commit` is null before any. */
export function useChanges(step: string | null) {
  const session = useSessionId();
  const past = useIsPast();
  const shown = useView(({ commits }) => (step === null ? undefined : commits.get(step)));
  const latest = useView((view) => view.lastCommit?.args.commit ?? null);
  const range = rangeOf(shown, past ? latest : null);
  const diff = useQuery({
    ...diffQuery(session, range, latest),
    enabled: latest !== null,
    placeholderData: (before) => before,
  });
  const { files = noFiles, total } = diff.data ?? {};
  return { diff, files, total, range, commit: range.to ?? latest };
}

/** All that the session changed; undefined until its diff was loaded. */
export function useChangesTotal(): ChangeTotal | undefined {
  const session = useSessionId();
  const past = useIsPast();
  const latest = useView((view) => view.lastCommit?.args.commit ?? null);
  const query = diffQuery(session, rangeOf(undefined, past ? latest : null), latest);
  const { data } = useQuery({ ...query, enabled: false });
  return data?.total;
}

interface ReadDiff {
  files: DiffedFile[];
  total: ChangeTotal;
}

const noFiles: DiffedFile[] = [];

const diffQuery = (session: string, range: CommitRange, latest: string | null) =>
  queryOptions({
    queryKey: ['diff', session, range, latest],
    queryFn: () => diffOf(session, range),
    staleTime: Infinity,
    // Each commit is a new query: only recent diffs of a long session are kept.
    gcTime: 15_000,
    retry: 0,
  });

function rangeOf(step: Commit | undefined, upTo: string | null): CommitRange {
  if (!step) return upTo === null ? {} : { to: upTo };
  const { parent, commit } = step.args;
  return { ...(parent && { from: parent }), to: commit };
}

/** After a session’s sandbox has ended, only its complete changes are available, as a patch. */
async function diffOf(session: string, range: CommitRange): Promise<ReadDiff> {
  try {
    const diff = await client.sessions.call(session, 'workspace.diff', range);
    return { files: diffedFiles(diff), total: totalOfChange(diff) };
  } catch (error) {
    const { state } = await client.sessions.get(session);
    if (!isEnded(state) || Object.keys(range).length) throw error;
    const files = filesOfPatch(new TextDecoder().decode(await client.sessions.patch(session)));
    return { files, total: totalOfChange({ files }) };
  }
}
