import type { DiffLine, FileDiff, DiffHunk } from './diff';

/** How many more lines a click shows before or after a hunk. */
export const contextStep = 20;

/** How much of a file the user expanded around its hunks. */
export interface Expansion {
  whole: boolean;
  /** Number of lines shown at the beginning and the end of each gap, by the gap’s index. */
  gaps: ReadonlyMap<number, { begin: number; end: number }>;
}

/** Lines omitted from a diff: before its first hunk, between two hunks, or after the last one. */
export interface Gap {
  /** The index of the hunk after the gap; for the last gap, the number of hunks. */
  index: number;
  /** Line numbers after the change; `to` is null at the end of a file of unknown length. */
  from: number;
  to: number | null;
  /** Add it to a line number after the change to get the number before it. */
  shift: number;
}

/** The gaps of a file; none if the change added or deleted it. */
export function gapsOf(file: FileDiff, wholeLength?: number): Gap[] {
  if (file.from === null || file.to === null) return [];
  const gaps: Gap[] = [];
  let from = 1;
  let shift = 0;
  for (const [index, hunk] of file.hunks.entries()) {
    const { before, after } = rangesOf(hunk);
    gaps.push({ index, from, to: after.from - 1, shift: before.from - after.from });
    from = after.to + 1;
    shift = before.to - after.to;
  }
  const last = file.hunks.at(-1);
  if (last && !endsFile(last))
    gaps.push({ index: file.hunks.length, from, to: wholeLength ?? null, shift });
  return gaps.filter(({ from: first, to }) => to === null || to >= first);
}

/** Git shows three lines after a change unless the file ends sooner. */
const endsFile = ({ lines }: DiffHunk): boolean =>
  lines.length - 1 - lines.findLastIndex(({ kind }) => kind !== ' ') < 3;

function rangesOf({ header }: DiffHunk) {
  const numbers = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?/.exec(header) ?? [];
  const [, first = '1', removed = '1', second = '1', added = '1'] = numbers;
  const range = (start: number, count: number) => {
    // For an empty range, git gives the number of the line before it.
    const from = count === 0 ? start + 1 : start;
    return { from, to: from + count - 1 };
  };
  return {
    before: range(Number(first), Number(removed)),
    after: range(Number(second), Number(added)),
  };
}

/** The lines of a file after the change; null if `text` does not match the diff. */
export function wholeLines(text: string, file: FileDiff): string[] | null {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const fits = file.hunks.every((hunk) =>
    hunk.lines.every(({ after, text: line }) => after === null || lines[after - 1] === line),
  );
  return fits ? lines : null;
}

const known = new WeakMap<readonly string[], Map<number, DiffLine[]>>();

/** Returns the same array for the same file and shift, so that it is highlighted only once. */
export function unchangedLines(whole: readonly string[], shift: number): DiffLine[] {
  const shifts = known.get(whole) ?? new Map<number, DiffLine[]>();
  known.set(whole, shifts);
  const lines =
    shifts.get(shift) ??
    whole.map((text, index) => ({
      kind: ' ' as const,
      text,
      before: index + 1 + shift,
      after: index + 1,
    }));
  shifts.set(shift, lines);
  return lines;
}
