import { fileRefIn, fileRefsIn } from './file-refs';

describe('fileRefIn', () => {
  it.each([
    ['src/time.js', { path: 'src/time.js', line: 1 }],
    ['src/time.js:12', { path: 'src/time.js', line: 12 }],
    ['./src/time.js:12:7', { path: 'src/time.js', line: 12 }],
    ['/workspace/a/b.test.ts:3', { path: 'a/b.test.ts', line: 3 }],
    ['time.py:4', { path: 'time.py', line: 4 }],
    ['.github/workflows/ci.yaml', { path: '.github/workflows/ci.yaml', line: 1 }],
  ])('%s', (text, place) => expect(fileRefIn(text)).toMatchObject(place));

  it.each(['Math.round', 'and/or', 'v1.2', 'npm test', 'http://x.org/a.js', 'src/time.js is new'])(
    'finds nothing in %s',
    (text) => expect(fileRefIn(text)).toBeNull(),
  );
});

it('finds every reference in a line and ignores URLs', () => {
  const line = '  at walk (/workspace/src/a.js:3:9) and b.py:7, see http://x.org/c.js:1';
  expect(fileRefsIn(line).map(({ text, path, line: at }) => [text, path, at])).toEqual([
    ['/workspace/src/a.js:3:9', 'src/a.js', 3],
    ['b.py:7', 'b.py', 7],
  ]);
});
