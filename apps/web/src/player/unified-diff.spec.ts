import { parseDiff } from '@/features/changes/diff';
import { unifiedDiff } from './unified-diff';

const numbers = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);
const text = (lines: readonly string[]) => `${lines.join('\n')}\n`;

it('writes the changes of a file in hunks with three lines around them', () => {
  const before = text(numbers);
  const after = text(numbers.with(1, 'two').toSpliced(30, 1));
  const [file] = parseDiff(unifiedDiff({ path: 'a.txt', before, after }));
  expect(file?.hunks.map(({ header }) => header)).toEqual(['@@ -1,5 +1,5 @@', '@@ -28,7 +28,6 @@']);
  expect(file?.hunks[0]?.raw).toBe(
    '@@ -1,5 +1,5 @@\n line 1\n-line 2\n+two\n line 3\n line 4\n line 5\n',
  );
});

it('writes new and deleted files, and nothing for one without a change', () => {
  const made = unifiedDiff({ path: 'b "c"', before: null, after: 'x\n' });
  expect(parseDiff(made)).toMatchObject([{ from: null, path: 'b "c"' }]);
  expect(made).toContain('@@ -0,0 +1,1 @@\n+x\n');
  const gone = unifiedDiff({ path: 'b', before: 'x\n', after: null });
  expect(parseDiff(gone)).toMatchObject([{ to: null, path: 'b' }]);
  expect(unifiedDiff({ path: 'b', before: 'x', after: 'x' })).toBe('');
});
