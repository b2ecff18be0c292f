import { fileDiff, type DiffedFile } from './diffed-files';
import { gapsOf, unchangedLines, type Expansion, type Gap } from './context-lines';
import type { DiffLine, FileDiff, DiffHunk } from './diff';
import { isOpen, type Folds } from './use-folds';
import { noThreads, placeThreads, type PlacedThreads, type ReviewThread } from './review-threads';

/** A piece of a hunk: its lines from `from` up to, but excluding, `to`, with the threads on them. */
interface HunkRow extends Pick<PlacedThreads, 'placed'> {
  kind: 'hunk';
  key: string;
  diff: FileDiff;
  hunk: DiffHunk;
  from: number;
  to: number;
}

export type DiffRow =
  | { kind: 'file'; key: string; file: DiffedFile; open: boolean }
  | HunkRow
  | { kind: 'note'; key: string; text: string }
  /** The lines of a file that the truncated diff lacks, until they are fetched. */
  | { kind: 'missing'; key: string; path: string }
  /** Threads of reviews without a place in the diff of their file. */
  | { kind: 'threads'; key: string; path: string; threads: readonly ReviewThread[] }
  /** Expanded lines around hunks: those of `whole` from `from` up to, but excluding, `to`. */
  | { kind: 'context'; key: string; path: string; whole: DiffLine[]; from: number; to: number }
  /** Omitted lines around hunks. */
  | { kind: 'gap'; key: string; path: string; gap: Gap; isLast: boolean; state: FileState };

/** The lines of a whole file: null while they are fetched, or an error message. */
export type FileState = { lines: readonly string[] } | { failed: string } | null;

/** Maximum lines per row, so that each row of a large hunk renders within a frame. */
const mostLines = 80;

export interface Unfolded {
  folds: Folds;
  /** Diffs of files that the truncated diff lacks, once their rows were visible; null while they load. */
  fetched: ReadonlyMap<string, { part: string } | { failed: string } | null>;
  /** How much the user expanded around the hunks, by path. */
  expanded: ReadonlyMap<string, Expansion>;
  /** The lines of the expanded files, by path. */
  wholes: ReadonlyMap<string, FileState>;
  /** The threads of reviews, by path. */
  threads: ReadonlyMap<string, readonly ReviewThread[]>;
}

/** The rows to render, from top to bottom: each file, followed by its notes, hunks and gaps. */
export function diffRows(files: readonly DiffedFile[], unfolded: Unfolded): DiffRow[] {
  const rows = files.flatMap((file) => {
    const open = isOpen(file, unfolded.folds);
    const head: DiffRow = { kind: 'file', key: file.path, file, open };
    return open ? [head, ...bodyOf(file, unfolded)] : [head];
  });
  const changed = new Set(files.map(({ path }) => path));
  const others = [...unfolded.threads].filter(([path]) => !changed.has(path));
  return [...rows, ...others.flatMap(([path, threads]) => threadRows(path, threads))];
}

const threadRows = (path: string, threads: readonly ReviewThread[]): DiffRow[] =>
  threads.length === 0 ? [] : [{ kind: 'threads', key: `${path}\nthreads`, path, threads }];

function bodyOf(file: DiffedFile, unfolded: Unfolded): DiffRow[] {
  const note = (text: string): DiffRow[] => [{ kind: 'note', key: `${file.path}\n`, text }];
  if (file.binary) return note('Binary file changed.');
  const more = unfolded.fetched.get(file.path);
  if (more && 'failed' in more) return note(more.failed);
  const part = file.part ?? more?.part;
  if (part === undefined) return [{ kind: 'missing', key: `${file.path}\n`, path: file.path }];
  const diff = fileDiff(part);
  if (diff.hunks.length === 0) return note('No lines changed.');
  const { placed, outdated } = placeThreads(diff, unfolded.threads.get(file.path) ?? noThreads);
  const around = rowsAround(file.path, diff, unfolded);
  return [
    ...threadRows(file.path, outdated),
    ...diff.hunks.flatMap((hunk, index) => [
      ...(around.get(index) ?? []),
      ...pieces(`${file.path}\n${index}`, { diff, hunk, placed }),
    ]),
    ...(around.get(diff.hunks.length) ?? []),
  ];
}

/** The rows before each hunk, by its index, and those after the last hunk. */
function rowsAround(path: string, diff: FileDiff, { expanded, wholes }: Unfolded) {
  const state = wholes.get(path) ?? null;
  const lines = state && 'lines' in state ? state.lines : undefined;
  const { whole, gaps: shown } = expanded.get(path) ?? { whole: false, gaps: new Map() };
  return new Map(
    gapsOf(diff, lines?.length).map((gap): [number, DiffRow[]] => {
      const { index, from, to, shift } = gap;
      const { begin = 0, end = 0 } = shown.get(index) ?? {};
      const isLast = index === diff.hunks.length;
      const row = (rest: Gap): DiffRow => {
        const key = `${path}\n${index}\ngap`;
        return { kind: 'gap', key, path, gap: rest, isLast, state };
      };
      if (!lines || to === null) return [index, [row(gap)]];
      const context = (first: number, last: number): DiffRow[] =>
        contextRows(path, unchangedLines(lines, shift), { from: first - 1, to: last });
      if (whole || begin + end > to - from) return [index, context(from, to)];
      const rest = { ...gap, from: from + begin, to: to - end };
      return [index, [...context(from, rest.from - 1), row(rest), ...context(rest.to + 1, to)]];
    }),
  );
}

function contextRows(path: string, whole: DiffLine[], range: { from: number; to: number }) {
  const rows: DiffRow[] = [];
  for (let { from } = range; from < range.to; from += mostLines) {
    const to = Math.min(range.to, from + mostLines);
    rows.push({ kind: 'context', key: `${path}\n${from}\ncontext`, path, whole, from, to });
  }
  return rows;
}

function pieces(key: string, whole: Pick<HunkRow, 'diff' | 'hunk' | 'placed'>): HunkRow[] {
  const rows: HunkRow[] = [];
  const { length } = whole.hunk.lines;
  for (let from = 0; from === 0 || from < length; from += mostLines) {
    const to = Math.min(length, from + mostLines);
    rows.push({ kind: 'hunk', key: `${key}\n${from}`, ...whole, from, to });
  }
  return rows;
}

/** In pixels, until the row is rendered and measured. */
export function estimatedHeight(row: DiffRow): number {
  if (row.kind === 'file') return 29;
  if (row.kind === 'note' || row.kind === 'missing') return 36;
  if (row.kind === 'threads') return row.threads.length * 32;
  if (row.kind === 'gap') return 28;
  if (row.kind === 'context') return (row.to - row.from) * 18;
  return (row.from === 0 ? 29 : 0) + (row.to - row.from) * 18;
}
