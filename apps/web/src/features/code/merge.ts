import { diff3Merge } from 'node-diff3';

export interface Merged {
  text: string;
  /** Places that both changed differently; each is between marks in the text. */
  conflicts: number;
}

/** Joins what two sides made of one text, by line. Where only one side changed something, its change is taken. */
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

/** As git writes them, so that editors colour them. */
const marks = { mine: '<<<<<<< mine', middle: '=======', theirs: '>>>>>>> theirs' };

const linesOf = (text: string): string[] => text.split(/\r\n|\r|\n/);
