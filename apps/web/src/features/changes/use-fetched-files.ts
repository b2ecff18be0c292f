import { useQueries } from '@tanstack/react-query';
import { AppError, errorFrom } from '@belay/protocol';
import { useSessionId } from '@/features/session-log/session-context';
import { fromBase64 } from '@/lib/base64';
import { client } from '@/lib/server';
import { fileDiff, type DiffedFile } from './diffed-files';
import { wholeLines } from './context-lines';
import { splitDiff } from './diff';
import type { FileState, Unfolded } from './diff-rows';

/** The commits to compare. */
export interface CommitRange {
  from?: string;
  to?: string;
}

/** Fetches the diffs of these files, as far as they are missing from the truncated diff, by path. */
export function useFetchedParts(
  files: readonly DiffedFile[],
  range: CommitRange,
): Unfolded['fetched'] {
  const session = useSessionId();
  const missing = files.filter(({ part, binary }) => part === undefined && !binary);
  return useQueries({
    queries: missing.map(({ path }) => ({
      queryKey: ['diff', session, range, path],
      queryFn: () => client.sessions.call(session, 'workspace.diff', { ...range, path }),
      staleTime: Infinity,
      gcTime: 15_000,
      retry: 0,
    })),
    combine: (results) =>
      new Map(
        results.map(({ data, error }, index) => [
          missing[index]?.path ?? '',
          error ? { failed: errorFrom(error).message } : partOf(data),
        ]),
      ),
  });
}

function partOf(data: { diff: string; truncated: boolean } | undefined) {
  if (!data) return null;
  const [part] = splitDiff(data.diff);
  const failed = 'This change is too large to show. Save the patch to see it.';
  return part === undefined || data.truncated ? { failed } : { part };
}

interface WholeFiles {
  files: readonly DiffedFile[];
  expanded: Unfolded['expanded'];
  fetched: Unfolded['fetched'];
  /** The commit after the changes. */
  commit: string;
}

/** All lines of the files that the user expanded, by path. */
export function useWholeFiles({
  files,
  expanded,
  fetched,
  commit,
}: WholeFiles): Unfolded['wholes'] {
  const session = useSessionId();
  const wanted = files.flatMap(({ path, part = partIn(fetched.get(path)) }) =>
    part !== undefined && expanded.has(path) ? [{ path, part }] : [],
  );
  return useQueries({
    queries: wanted.map(({ path, part }) => ({
      queryKey: ['whole', session, commit, path, part],
      queryFn: async (): Promise<readonly string[]> => {
        const shown = await client.sessions.call(session, 'workspace.show', { commit, path });
        const text =
          shown.encoding === 'utf8'
            ? shown.content
            : new TextDecoder().decode(fromBase64(shown.content));
        const lines = wholeLines(text, fileDiff(part));
        if (lines) return lines;
        throw new AppError(
          'conflict',
          'The file has changed since then. Open it to see all of it.',
        );
      },
      staleTime: Infinity,
      gcTime: 15_000,
      retry: 0,
    })),
    combine: (results) =>
      new Map(
        results.map(({ data, error }, index): [string, FileState] => [
          wanted[index]?.path ?? '',
          error ? { failed: errorFrom(error).message } : data ? { lines: data } : null,
        ]),
      ),
  });
}

const partIn = (fetched: { part: string } | { failed: string } | null | undefined) =>
  fetched && 'part' in fetched ? fetched.part : undefined;
