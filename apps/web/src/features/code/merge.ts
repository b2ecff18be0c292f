import { diff3Merge } from 'node-diff3';

export interface Merged {
  text: string;
  /** Number of places that both sides changed differently, which are between markers in `text`. */
  conflicts: number;
}

/** Merges two versions of `base` by line. Where only one side has changes, these are taken. */
export function mergeTexts(base: string, mine: string, theirs: string): Merged {
  const end = mine.includes('\r\n') ? '\r\n' : '\n';
  const parts = diff3Merge(linesOf(mine), linesOf(base), linesOf(theirs));
  const lines = parts.flatMap(({ ok, conflict }) =>
    conflict ? [marks.mine, ...conflict.a, marks.middle, ...conflict.b, marks.theirs] : (ok ?? []),
  );
  return { text: lines.join(end), conflicts: parts.filter(({ conflict }) => conflict).length };
}

/** The number of conflicts that are still marked in a text. */
export const conflictsIn = (text: string): number =>
  linesOf(text).filter((line) => line === marks.mine).length;

/** The markers that git writes, so that editors highlight them. */
const marks = { mine: '<<<<<<< mine', middle: '=======', theirs: '>>>>>>> theirs' };

const linesOf = (text: string): string[] => text.split(/\r\n|\r|\n/);
