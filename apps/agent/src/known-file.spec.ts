import { changedFile, knownLines, type KnownFile } from './known-file.js';

const file: KnownFile = { version: 'a', of: 200, parts: [{ from: 100, to: 110 }] };

it.each([
  ['thirty lines on top', [{ at: 1, removed: 2, added: 32 }], '1–32, 130–140'],
  ['lines below', [{ at: 150, removed: 4, added: 5 }], '100–110, 150–154'],
  ['one that is gone above', [{ at: 10, removed: 5, added: 4 }], '10–13, 99–109'],
  ['one within', [{ at: 103, removed: 4, added: 5 }], '100–102, 103–107, 108–111'],
  ['its end and more', [{ at: 109, removed: 6, added: 2 }], '100–108, 109–110'],
  [
    'two places',
    [
      { at: 1, removed: 0, added: 10 },
      { at: 105, removed: 1, added: 0 },
    ],
    '1–10, 110–114, 115–119',
  ],
])('what was seen of a file moves with %s', (_, hunks, seen) => {
  const now = changedFile(file, 'b', { hunks });
  expect(knownLines(now)).toBe(seen);
  expect(now.of).toBe(200 + hunks.reduce((sum, { added, removed }) => sum + added - removed, 0));
});

it('what was seen grows and shrinks with a change in it', () => {
  const grown = changedFile(file, 'b', { lines: 202 });
  expect(knownLines(grown)).toBe('100–112');
  expect(knownLines(changedFile(grown, 'c', { lines: 200 }))).toBe('100–110');
});
