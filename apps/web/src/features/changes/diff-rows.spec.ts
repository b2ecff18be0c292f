import { diffedFiles, filesOfPatch } from './diffed-files';
import { gapsOf, unchangedLines, wholeLines } from './context-lines';
import { parseDiff } from './diff';
import { diffRows } from './diff-rows';
import { isOpen, type Folds } from './use-folds';

const part = (path: string, lines = 1): string =>
  [
    `diff --git a/${path} b/${path}`,
    'index 1111111..2222222 100644',
    `--- a/${path}`,
    `+++ b/${path}`,
    `@@ -0,0 +1,${lines} @@`,
    ...Array.from({ length: lines }, (_, index) => `+line ${index + 1}`),
    '',
  ].join('\n');
const listed = (path: string, added = 1) =>
  ({ path, status: 'modified', added, removed: 0, binary: false }) as const;
const nothing = {
  folds: { chosen: new Map(), all: null } as Folds,
  fetched: new Map(),
  expanded: new Map(),
  wholes: new Map(),
  threads: new Map(),
};
const kinds = (rows: ReturnType<typeof diffRows>) => rows.map(({ kind }) => kind).join(' ');

describe('the files of a diff', () => {
  it('are all listed when the diff is truncated, with the lines of its complete parts', () => {
    const diff = part('a') + part('b') + part('c').slice(0, -5);
    const files = diffedFiles({
      diff,
      truncated: true,
      files: ['a', 'b', 'c', 'd'].map((path) => listed(path)),
    });
    expect(files.map(({ path, part: text }) => [path, text !== undefined])).toEqual([
      ['a', true],
      ['b', true],
      ['c', false],
      ['d', false],
    ]);
  });

  it('are parsed from a patch without a list of files', () => {
    const diff = `${part('a', 3)}diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n`;
    expect(filesOfPatch(diff)).toMatchObject([
      { path: 'a', status: 'modified', added: 3, removed: 0 },
      { path: 'new', status: 'renamed', added: 0, removed: 0 },
    ]);
  });
});

describe('the rows of a diff', () => {
  it('split the lines of large hunks', () => {
    const files = diffedFiles({
      diff: part('a', 200),
      truncated: false,
      files: [listed('a', 200)],
    });
    const rows = diffRows(files, nothing);
    expect(rows.map((row) => (row.kind === 'hunk' ? [row.from, row.to] : row.kind))).toEqual([
      'file',
      [0, 80],
      [80, 160],
      [160, 200],
    ]);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
  });

  it('fold large files until the user unfolds them', () => {
    const files = diffedFiles({
      diff: part('a', 700),
      truncated: false,
      files: [listed('a', 700)],
    });
    expect(kinds(diffRows(files, nothing))).toBe('file');
    const folds: Folds = { chosen: new Map([['a', true]]), all: null };
    expect(kinds(diffRows(files, { ...nothing, folds }))).toMatch(/^file hunk/);
  });

  it('show the state of a truncated file that is fetched when it is unfolded', () => {
    const [file] = diffedFiles({ diff: '', truncated: true, files: [listed('a')] });
    if (!file) throw new Error('There is one.');
    expect(isOpen(file, nothing.folds)).toBe(false);
    const folds: Folds = { chosen: new Map([['a', true]]), all: null };
    const rows = (fetched: { part: string } | { failed: string } | null) =>
      diffRows([file], { ...nothing, folds, fetched: new Map([['a', fetched]]) });
    expect(rows(null)[1]).toMatchObject({ kind: 'missing', path: 'a' });
    expect(rows({ failed: 'It is gone.' })[1]).toMatchObject({ text: 'It is gone.' });
    expect(kinds(rows({ part: part('a') }))).toBe('file hunk');
  });
});

describe('the lines around the hunks', () => {
  const text = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`);
  const hunk = (at: number) => [
    `@@ -${at},6 +${at},7 @@`,
    ...text.slice(at - 1, at + 2).map((line) => ` ${line}`),
    '+new',
    ...text.slice(at + 2, at + 5).map((line) => ` ${line}`),
  ];
  // After the change, the second hunk starts one line later than before it.
  const diff = [
    'diff --git a/a b/a',
    '--- a/a',
    '+++ b/a',
    ...hunk(31),
    ...hunk(61).with(0, '@@ -61,6 +62,7 @@'),
    '',
  ].join('\n');
  const files = filesOfPatch(diff);
  const after = text.toSpliced(33, 0, 'new').toSpliced(64, 0, 'new');
  const rows = (
    expansion: { whole?: boolean; gaps?: [number, { begin: number; end: number }][] },
    lines: string[] | null = after,
  ) =>
    diffRows(files, {
      ...nothing,
      expanded: new Map([['a', { whole: false, ...expansion, gaps: new Map(expansion.gaps) }]]),
      wholes: new Map(lines && [['a', { lines }]]),
    }).map((row) => {
      if (row.kind === 'gap') return `gap ${row.gap.from} to ${row.gap.to}`;
      return row.kind === 'context' ? `context ${row.from + 1} to ${row.to}` : row.kind;
    });

  it('are gaps at first, the last one with an unknown end', () =>
    expect(rows({}, null)).toEqual([
      'file',
      'gap 1 to 30',
      'hunk',
      'gap 38 to 61',
      'hunk',
      'gap 69 to null',
    ]));

  it('appear step by step at both ends of a gap, until none is left', () => {
    expect(rows({ gaps: [[1, { begin: 10, end: 4 }]] }).slice(3, 6)).toEqual([
      'context 38 to 47',
      'gap 48 to 57',
      'context 58 to 61',
    ]);
    expect(rows({ gaps: [[1, { begin: 20, end: 20 }]] }).slice(3, 4)).toEqual(['context 38 to 61']);
    expect(rows({ gaps: [[2, { begin: 20, end: 0 }]] }).slice(-2)).toEqual([
      'context 69 to 88',
      'gap 89 to 102',
    ]);
  });

  it('are all shown for a whole file, with both line numbers', () => {
    expect(rows({ whole: true })).toEqual([
      'file',
      'context 1 to 30',
      'hunk',
      'context 38 to 61',
      'hunk',
      'context 69 to 102',
    ]);
    expect(unchangedLines(after, -1)[61]).toMatchObject({ text: 'line 61', before: 61, after: 62 });
  });

  it('are only taken from a file that matches the diff', () => {
    const [file] = parseDiff(diff);
    if (!file) throw new Error('There is one.');
    expect(wholeLines(`${after.join('\n')}\n`, file)).toEqual(after);
    expect(wholeLines(text.join('\n'), file)).toBeNull();
  });

  it('do not exist for a new file, nor after a hunk that ends its file', () => {
    expect(kinds(diffRows(filesOfPatch(part('a')), nothing))).toBe('file hunk');
    const short = diff.slice(0, diff.lastIndexOf('\n line'));
    expect(gapsOf(parseDiff(short)[0]!).map(({ from }) => from)).toEqual([1, 38]);
  });
});
