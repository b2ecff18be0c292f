import { gitlabPosition } from './gitlab-position.js';

const refs = { base_sha: 'a'.repeat(40), start_sha: 'b'.repeat(40), head_sha: 'c'.repeat(40) };
const diff = ['@@ -3,3 +3,4 @@ header', ' kept 3', '-old 4', '+new 4', '+new 5', ' kept 5/6', ''];
const diffs = [{ old_path: 'was.js', new_path: 'is.js', diff: diff.join('\n') }];
const at = (path: string, line: number, side: 'new' | 'old') => {
  const { old_path, new_path, old_line, new_line } = gitlabPosition(
    { path, line, side },
    refs,
    diffs,
  );
  return [old_path, new_path, old_line, new_line];
};

it.each([
  ['an added line', at('is.js', 5, 'new'), ['was.js', 'is.js', undefined, 5]],
  ['a removed line', at('was.js', 4, 'old'), ['was.js', 'is.js', 4, undefined]],
  ['an unchanged line', at('is.js', 6, 'new'), ['was.js', 'is.js', 5, 6]],
  ['an unchanged line by its old number', at('was.js', 5, 'old'), ['was.js', 'is.js', 5, 6]],
  ['a line that is not shown', at('is.js', 90, 'new'), ['was.js', 'is.js', undefined, 90]],
  ['a file that was not changed', at('x.js', 1, 'new'), ['x.js', 'x.js', undefined, 1]],
])('places %s', (_name, found, wanted) => {
  expect(found).toEqual(wanted);
});
