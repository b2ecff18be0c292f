import { diffComm } from 'node-diff3';
import type { DiffLine } from './diff';

export interface Segment {
  text: string;
  changed: boolean;
}

/** Longer lines are not compared, as they are not read word by word. */
const mostCharacters = 400;

/**
 * Compares two versions of a line word by word; null if they have too little in common or are too
 * long.
 */
export function wordDiff(before: string, after: string): [Segment[], Segment[]] | null {
  if (before.length > mostCharacters || after.length > mostCharacters) return null;
  const parts = diffComm(wordsOf(before), wordsOf(after));
  const common = parts.reduce((sum, { common: same = [] }) => sum + same.join('').trim().length, 0);
  if (common * 3 < Math.max(before.trim().length, after.trim().length)) return null;
  const side = (name: 'buffer1' | 'buffer2'): Segment[] =>
    parts
      .map(({ common: same, [name]: own = [] }) =>
        same ? { text: same.join(''), changed: false } : { text: own.join(''), changed: true },
      )
      .filter(({ text }) => text !== '');
  return [side('buffer1'), side('buffer2')];
}

const wordsOf = (line: string): string[] => line.match(/\w+|\s+|[^\w\s]/gu) ?? [];

/** Lines side by side: a removed line and its replacement, or an unchanged line on both sides. */
interface LinePair {
  before: DiffLine | null;
  after: DiffLine | null;
}

export function pairLines(lines: readonly DiffLine[]): LinePair[] {
  const pairs: LinePair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1)
      pairs.push({ before: removed[at] ?? null, after: added[at] ?? null });
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === '-') {
      if (added.length > 0) flush();
      removed.push(line);
    } else if (line.kind === '+') added.push(line);
    else {
      flush();
      pairs.push({ before: line, after: line });
    }
  }
  flush();
  return pairs;
}

/** The words that differ, for each line that has a counterpart. */
export function changedWords(lines: readonly DiffLine[]): ReadonlyMap<DiffLine, Segment[]> {
  const found = new Map<DiffLine, Segment[]>();
  for (const { before, after } of pairLines(lines)) {
    if (!before || !after || before === after) continue;
    const [left, right] = wordDiff(before.text, after.text) ?? [];
    if (left && right) found.set(before, left).set(after, right);
  }
  return found;
}
