import { useMemo, useState } from 'react';
import type { DiffedFile } from './diffed-files';
import type { Expansion } from './context-lines';
import { diffRows } from './diff-rows';
import { matchesPath, matchingFiles } from './matching-files';
import { isOpen, type Folds } from './use-folds';
import { useReviewThreads } from './review-threads';
import { useFetchedParts, useWholeFiles, type CommitRange } from './use-fetched-files';

export interface DiffRowsOptions {
  files: readonly DiffedFile[];
  range: CommitRange;
  /** The commit after the changes. */
  commit: string;
  /** Only files and threads with paths that contain it have rows. */
  filter: string | undefined;
  folds: Folds;
  fold(path: string, open: boolean): void;
}

/** The rows of a diff, and callbacks to expand its files. */
export function useDiffRows({ files: all, range, commit, filter, folds, fold }: DiffRowsOptions) {
  const files = useMemo(() => matchingFiles(all, filter), [all, filter]);
  // Files are fetched once they are seen: a user may unfold thousands at once.
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const [expanded, setExpanded] = useState<ReadonlyMap<string, Expansion>>(new Map());
  const wanted = files.filter((file) => seen.has(file.path) && isOpen(file, folds));
  const fetched = useFetchedParts(wanted, range);
  const wholes = useWholeFiles({ files, expanded, fetched, commit });
  const reviewed = useReviewThreads();
  const threads = useMemo(
    () => new Map([...reviewed].filter(([path]) => matchesPath(path, filter))),
    [reviewed, filter],
  );
  const rows = useMemo(
    () => diffRows(files, { folds, fetched, expanded, wholes, threads }),
    [files, folds, fetched, expanded, wholes, threads],
  );
  const expand = (path: string, to: (now: Expansion) => Expansion) =>
    setExpanded((now) => new Map(now).set(path, to(now.get(path) ?? unexpanded)));
  return {
    /** The files that match the filter. */
    matching: files,
    rows,
    isWhole: (path: string) => expanded.get(path)?.whole ?? false,
    see: (path: string) => setSeen((now) => new Set(now).add(path)),
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
