import { queryOptions, useQuery } from '@tanstack/react-query';
import type { OperationOutput } from '@belay/protocol';
import { client } from '@/lib/server';
import { useSessionId, useView } from '@/features/session-log/session-context';
import { useSessionState } from '@/lib/summaries';

export type FileList = OperationOutput<'files.list'>;
export type FileMatches = OperationOutput<'files.search'>;
export type FilePage = OperationOutput<'files.read'>;

export const listFiles = (session: string): Promise<FileList> =>
  client.sessions.call(session, 'files.list', { path: '.', depth: 12, limit: 5_000 });

/** The files of the workspace, fetched again after each commit. */
export const filesQuery = (session: string, commit: string | null) =>
  queryOptions({
    queryKey: ['files', session, commit],
    queryFn: () => listFiles(session),
    placeholderData: (before: FileList | undefined) => before,
    staleTime: commit === null ? 30_000 : Infinity,
    // Every commit has its own list; dropping old ones early saves memory in long sessions.
    gcTime: 15_000,
    retry: 0,
  });

/** The current files, once there is a commit and an agent that can list them. */
export function useFiles() {
  const session = useSessionId();
  const isStarting = useSessionState(session) === 'starting';
  const commit = useView((view) => view.lastCommit?.args.commit ?? '');
  return useQuery({ ...filesQuery(session, commit), enabled: commit !== '' && !isStarting });
}

/** The paths of the current files, once they are wanted. */
export function useFilePaths(wanted: boolean): readonly string[] {
  const { data } = useQuery({ ...filesQuery(useSessionId(), null), enabled: wanted });
  return data?.entries.filter(({ kind }) => kind === 'file').map(({ path }) => path) ?? [];
}
