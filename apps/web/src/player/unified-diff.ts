import { diffIndices } from 'node-diff3';
import { quotedName } from '@belay/protocol';

const context = 3;

interface FileVersions {
  path: string;
  /** Null if there was no such file. */
  before: string | null;
  after: string | null;
}

/** The change of a file as git writes it; empty if there is none. */
export function unifiedDiff({ path, before, after }: FileVersions): string {
  if (before === after) return '';
  const [a, b] = [linesOf(before ?? ''), linesOf(after ?? '')];
  const [from, to] = [quotedName(`a/${path}`), quotedName(`b/${path}`)];
  const mode =
    before === null ? ['new file mode 100644'] : after === null ? ['deleted file mode 100644'] : [];
  const names = [
    `--- ${before === null ? '/dev/null' : from}`,
    `+++ ${after === null ? '/dev/null' : to}`,
  ];
  return [`diff --git ${from} ${to}`, ...mode, ...names, ...hunksOf(a, b), ''].join('\n');
}

/** A change of some lines, at indices from 0. */
interface Change {
  from: number;
  removed: number;
  to: number;
  added: number;
}

function hunksOf(a: readonly string[], b: readonly string[]): string[] {
  const changes = diffIndices([...a], [...b]).map(
    ({ buffer1: [from, removed], buffer2: [to, added] }): Change => ({ from, removed, to, added }),
  );
  return grouped(changes).flatMap((group) => {
    const [first, last] = [group[0], group.at(-1)];
    if (!first || !last) return [];
    const begin = Math.max(0, first.from - context);
    const end = Math.min(a.length, last.from + last.removed + context);
    const lines: string[] = [];
    let at = begin;
    for (const { from, removed, to, added } of group) {
      lines.push(...a.slice(at, from).map((line) => ` ${line}`));
      lines.push(...a.slice(from, from + removed).map((line) => `-${line}`));
      lines.push(...b.slice(to, to + added).map((line) => `+${line}`));
      at = from + removed;
    }
    lines.push(...a.slice(at, end).map((line) => ` ${line}`));
    const grown = group.reduce((sum, { removed, added }) => sum + added - removed, 0);
    const second = first.to - (first.from - begin);
    return [
      `@@ ${range('-', begin, end - begin)} ${range('+', second, end - begin + grown)} @@`,
      ...lines,
    ];
  });
}

/** Changes whose lines of context touch form one hunk. */
function grouped(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const before = groups.at(-1)?.at(-1);
    if (before && change.from - (before.from + before.removed) <= 2 * context)
      groups.at(-1)?.push(change);
    else groups.push([change]);
  }
  return groups;
}

/** An empty range is after the line with its number. */
const range = (sign: string, begin: number, count: number): string =>
  `${sign}${count === 0 ? begin : begin + 1},${count}`;

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
