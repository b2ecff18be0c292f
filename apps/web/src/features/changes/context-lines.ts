import type { DiffLine, FileDiff, DiffHunk } from './diff';

/** The lines of a file that a click shows before or after a hunk. */
export const contextStep = 20;

/** What the user asked to see of a file around its hunks. */
export interface Expansion {
  whole: boolean;
  /** Lines shown at the begin and at the end of each gap, by the place of the gap. */
  gaps: ReadonlyMap<number, { begin: number; end: number }>;
}

/** Lines that a diff leaves out: before its first hunk, between two, or after its last. */
export interface Gap {
  /** Before the hunk of this place; after the last hunk where there is none. */
  index: number;
  /** By their numbers after the change; null is the end of a file whose length is not known. */
  from: number;
  to: number | null;
  /** What is added to such a number for the one before the change. */
  shift: number;
}

/** The gaps of a file that was there before and after. */
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

/** Git shows three lines after a change, unless the file ends before. */
const endsFile = ({ lines }: DiffHunk): boolean =>
  lines.length - 1 - lines.findLastIndex(({ kind }) => kind !== ' ') < 3;

function rangesOf({ header }: DiffHunk) {
  const numbers = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?/.exec(header) ?? [];
  const [, first = '1', removed = '1', second = '1', added = '1'] = numbers;
  const range = (start: number, count: number) => {
    // For an empty range, git names the line before it.
    const from = count === 0 ? start + 1 : start;
    return { from, to: from + count - 1 };
  };
  return {
    before: range(Number(first), Number(removed)),
    after: range(Number(second), Number(added)),
  };
}

/** The lines of a file after the change; null when the file is not the one of the diff. */
export function wholeLines(text: string, file: FileDiff): string[] | null {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const fits = file.hunks.every((hunk) =>
    hunk.lines.every(({ after, text: line }) => after === null || lines[after - 1] === line),
  );
  return fits ? lines : null;
}

const known = new WeakMap<readonly string[], Map<number, DiffLine[]>>();

/** The same lines for the same file, so that their colours are found once. */
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
