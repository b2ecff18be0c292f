import type { DiffLine } from './diff';
import { changedWords, pairLines, wordDiff } from './word-diff';

const line = (kind: DiffLine['kind'], text: string): DiffLine => ({
  kind,
  text,
  before: 1,
  after: 1,
});

describe('wordDiff', () => {
  it('returns the words that differ', () =>
    expect(wordDiff('return a - b;', 'return a + b;')).toEqual([
      [
        { text: 'return a ', changed: false },
        { text: '-', changed: true },
        { text: ' b;', changed: false },
      ],
      [
        { text: 'return a ', changed: false },
        { text: '+', changed: true },
        { text: ' b;', changed: false },
      ],
    ]));

  it('skips lines that have little in common, and very long lines', () => {
    expect(wordDiff('import fs', 'const answer = 42;')).toBeNull();
    expect(wordDiff('x '.repeat(600), 'x '.repeat(600))).toBeNull();
  });
});

describe('pairLines', () => {
  it('pairs removed lines with the lines that replace them', () => {
    const lines = [
      line(' ', 'a'),
      line('-', 'b'),
      line('-', 'c'),
      line('+', 'B'),
      line(' ', 'd'),
      line('+', 'e'),
    ];
    const pairs = pairLines(lines).map(({ before, after }) => [before?.text, after?.text]);
    expect(pairs).toEqual([
      ['a', 'a'],
      ['b', 'B'],
      ['c', undefined],
      ['d', 'd'],
      [undefined, 'e'],
    ]);
    expect(changedWords(lines).size).toBe(0);
  });
});
