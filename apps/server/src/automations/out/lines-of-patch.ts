import { unquotedName } from '@belay/protocol';

/** A line of one side of a change. */
export interface ChangeLine {
  path: string;
  line: number;
  side: 'new' | 'old';
}

/**
 * Which lines a patch of git shows: of the new files those that are added or stand around a change, of the old ones those
 * that are removed.
 */
export function linesOfPatch(patch: string): (line: ChangeLine) => boolean {
  const shown = new Set<string>();
  const files = { old: '', new: '' };
  let [before, after, oldLeft, newLeft] = [0, 0, 0, 0];
  for (const line of patch.split('\n')) {
    if (oldLeft > 0 || newLeft > 0) {
      const sign = line[0];
      if (sign === '\\') continue;
      if (sign === '-') shown.add(keyOf({ path: files.old, line: before, side: 'old' }));
      else shown.add(keyOf({ path: files.new, line: after, side: 'new' }));
      if (sign !== '+') [before, oldLeft] = [before + 1, oldLeft - 1];
      if (sign !== '-') [after, newLeft] = [after + 1, newLeft - 1];
      continue;
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) {
      const [, from, oldCount = '1', to, newCount = '1'] = hunk;
      [before, oldLeft, after, newLeft] = [from, oldCount, to, newCount].map(Number) as Four;
    } else if (line.startsWith('--- ')) files.old = nameIn(line, 'a/');
    else if (line.startsWith('+++ ')) files.new = nameIn(line, 'b/');
  }
  return (line) => shown.has(keyOf(line));
}

type Four = [number, number, number, number];

const keyOf = ({ path, line, side }: ChangeLine): string => `${side} ${line} ${path}`;

/** Names with spaces end with a tab. */
function nameIn(line: string, prefix: string): string {
  const name = unquotedName(line.slice(4).replace(/\t$/, ''));
  return name.startsWith(prefix) ? name.slice(prefix.length) : '';
}
