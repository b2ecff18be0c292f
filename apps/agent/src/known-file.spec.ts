import {
  carriedLine,
  carriedPlace,
  changedFile,
  knownLines,
  knowsLines,
  knowsNumbers,
  shownFile,
  shownWith,
  wholeFile,
} from './known-file.js';

const file = shownFile(undefined, 'a', [{ from: 100, to: 110 }]);

it.each([
  ['thirty lines on top', [{ at: 1, removed: 2, added: 32 }], '1–32, 130–140'],
  ['lines below', [{ at: 150, removed: 4, added: 5 }], '100–110, 150–154'],
  ['one that is gone above', [{ at: 10, removed: 5, added: 4 }], '10–13, 99–109'],
  ['one within', [{ at: 103, removed: 4, added: 5 }], '100–111'],
  ['its end and more', [{ at: 109, removed: 6, added: 2 }], '100–110'],
  [
    'two places',
    [
      { at: 1, removed: 0, added: 10 },
      { at: 105, removed: 1, added: 0 },
    ],
    '1–10, 110–119',
  ],
])('what was seen of a file moves with %s', (_, hunks, seen) => {
  expect(knownLines(changedFile(file, 'b', hunks).lines)).toBe(seen);
});

it('numbers count only as they were last shown', () => {
  const { lines } = changedFile(file, 'b', [{ at: 102, removed: 0, added: 3 }]);
  expect(knowsLines(lines, { from: 100, to: 113 })).toBe(true);
  expect(knowsNumbers(lines, { from: 100, to: 104 })).toBe(true);
  expect(knowsNumbers(lines, { from: 105, to: 105 })).toBe(false);
  // Lines 102 to 104 were shown again, as other lines.
  expect(shownWith(lines, { from: 102, to: 106 })).toEqual([
    { from: 102, to: 104 },
    { from: 108, to: 109 },
  ]);
  const again = shownFile({ version: 'b', lines, changes: [] }, 'b', [{ from: 105, to: 107 }]);
  expect(knowsNumbers(again.lines, { from: 100, to: 107 })).toBe(true);
  expect(knowsNumbers(again.lines, { from: 108, to: 108 })).toBe(false);
});

it('a number that other lines had meanwhile is not the number of the first ones again', () => {
  const first = shownFile(undefined, 'a', [{ from: 5, to: 5 }]);
  const moved = changedFile(first, 'b', [{ at: 1, removed: 0, added: 1 }]);
  const other = shownFile(moved, 'b', [{ from: 5, to: 5 }]);
  const back = changedFile(other, 'c', [{ at: 1, removed: 1, added: 0 }]);
  expect(knownLines(back.lines)).toBe('4–5');
  expect(knowsNumbers(back.lines, { from: 5, to: 5 })).toBe(false);
});

it('a line that was cut is known by its number, but not as a whole', () => {
  const { lines } = shownFile(undefined, 'a', [
    { from: 1, to: 1 },
    { from: 2, to: 2, cut: true },
  ]);
  expect(knowsNumbers(lines, { from: 1, to: 2 })).toBe(true);
  expect(knowsLines(lines, { from: 1, to: 2 })).toBe(false);
  // One that is known as a whole stays so.
  const whole = shownFile(wholeFile('a'), 'a', [{ from: 2, to: 2, cut: true }]);
  expect(knowsLines(whole.lines, { from: 1, to: 9 })).toBe(true);
});

it('places are carried through changes, in order', () => {
  const changes = [[{ at: 5, removed: 2, added: 1 }], [{ at: 2, removed: 0, added: 3 }]];
  expect([1, 2, 4, 5, 6, 7].map((line) => carriedLine(line, changes))).toEqual([
    1,
    5,
    7,
    null,
    null,
    9,
  ]);
  expect([1, 2, 5, 6, 7].map((line) => carriedPlace(line, changes))).toEqual([1, 5, 8, null, 9]);
});

it('a file that is read as a whole again has the same lines', () => {
  const again = shownFile(shownFile(wholeFile('a'), 'a'), 'a');
  expect(again).toEqual(wholeFile('a'));
});
