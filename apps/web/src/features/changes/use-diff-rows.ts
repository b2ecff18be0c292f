import { useMemo, useState } from 'react';
import type { DiffedFile } from './diffed-files';
import type { Expansion } from './context-lines';
import { diffRows } from './diff-rows';
import { matchesPath, matchingFiles } from './matching-files';
import { useReviewThreads } from './review-threads';
import { useFetchedParts, useWholeFiles, type CommitRange } from './use-fetched-files';

export interface DiffRowsOptions {
  files: readonly DiffedFile[];
  range: CommitRange;
  /** The commit after the changes. */
  commit: string;
  /** Only files and threads with paths that contain it have rows. */
  filter: string | undefined;
}

/** The rows of a diff, and callbacks to fold and expand its files. */
export function useDiffRows({ files: all, range, commit, filter }: DiffRowsOptions) {
  const files = useMemo(() => matchingFiles(all, filter), [all, filter]);
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [expanded, setExpanded] = useState<ReadonlyMap<string, Expansion>>(new Map());
  const fetched = useFetchedParts(files, range, chosen);
  const wholes = useWholeFiles({ files, expanded, fetched, commit });
  const reviewed = useReviewThreads();
  const threads = useMemo(
    () => new Map([...reviewed].filter(([path]) => matchesPath(path, filter))),
    [reviewed, filter],
  );
  const rows = useMemo(
    () => diffRows(files, { chosen, fetched, expanded, wholes, threads }),
    [files, chosen, fetched, expanded, wholes, threads],
  );
  const fold = (path: string, open: boolean) => setChosen((now) => new Map(now).set(path, open));
  const expand = (path: string, to: (now: Expansion) => Expansion) =>
    setExpanded((now) => new Map(now).set(path, to(now.get(path) ?? unexpanded)));
  return {
    rows,
    isWhole: (path: string) => expanded.get(path)?.whole ?? false,
    fold,
    toggleWhole: (path: string) => {
      expand(path, ({ gaps, whole }) => ({ gaps, whole: !whole }));
      fold(path, true);
    },
    /** Shows more lines at the beginning and the end of a gap. */
    showMore: (path: string, gap: number, more: { begin: number; end: number }) =>
      expand(path, ({ whole, gaps }) => {
        const { begin, end } = gaps.get(gap) ?? { begin: 0, end: 0 };
        const next = { begin: begin + more.begin, end: end + more.end };
        return { whole, gaps: new Map(gaps).set(gap, next) };
      }),
  };
}

const unexpanded: Expansion = { whole: false, gaps: new Map() };
