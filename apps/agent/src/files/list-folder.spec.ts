import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesBench, type FilesBench } from './testing/files-bench.js';

let bench: FilesBench;
beforeEach(() => {
  bench = filesBench();
});
afterEach(() => bench.remove());

function put(...paths: string[]) {
  for (const path of paths) {
    mkdirSync(join(bench.root, dirname(path)), { recursive: true });
    writeFileSync(join(bench.root, path), 'x');
  }
}
const list = async (input: object = {}) => {
  const { entries, untraversed } = await bench.call('files.list', input);
  return { paths: entries.map(({ path }) => path), untraversed };
};

it('lists to a depth and names what it did not enter', async () => {
  put('a', 'b/c', 'b/d/e', '.env');
  mkdirSync(join(bench.root, 'empty'));
  symlinkSync('b', join(bench.root, 'link'));
  expect(await list({ depth: 2 })).toEqual({
    paths: ['.env', 'a', 'b', 'b/c', 'b/d', 'empty', 'link'],
    untraversed: ['b/d'],
  });
  expect((await list({ path: 'b' })).paths).toEqual(['b/c', 'b/d', 'b/d/e']);
  expect((await list({ path: 'link' })).paths).toEqual(['b/c', 'b/d', 'b/d/e']);
  const { entries } = await bench.call('files.list', { depth: 1 });
  expect(entries.at(-1)).toEqual({ path: 'link', kind: 'link', size: 0 });
  await expect(list({ path: 'a' })).rejects.toMatchObject({ code: 'invalid_input' });
});

it('stops at the limit and names the folders that are left', async () => {
  put('a/1', 'a/2', 'b/1', 'c/d/1');
  expect(await list({ limit: 4 })).toEqual({
    paths: ['a', 'a/1', 'b', 'c'],
    untraversed: ['a', 'b', 'c'],
  });
  expect(await list({ limit: 2 })).toEqual({ paths: ['a', 'b'], untraversed: ['.', 'a', 'b'] });
});

it('counts what it does not list', async () => {
  put('a/1', 'a/2', 'b/1', 'c/d/1');
  expect(await bench.call('files.list', { limit: 4 })).toMatchObject({ left: 4 });
  expect(await bench.call('files.list', { limit: 8 })).toMatchObject({ left: 0 });
});

it.each([
  ['*.o', ['a.o', 'd/b.o'], ['a.c', 'o']],
  ['/top', ['top'], ['d/top']],
  ['dir/', ['dir', 'd/dir'], ['file']],
  ['d/*.x', ['d/a.x'], ['a.x', 'd/e/a.x']],
  ['d/**/z', ['d/z', 'd/e/z', 'd/e/f/z'], ['z']],
  ['**/q', ['q', 'd/q'], ['qq']],
  ['d/**', ['d/a', 'd/e'], ['a']],
  ['[ab].[!c]', ['a.x', 'b.y'], ['a.c', 'c.x']],
  ['*.log\n!keep.log', ['x.log'], ['keep.log']],
  ['\\#x\n# comment\n\\!y', ['#x', '!y'], ['# comment']],
  ['a?c  ', ['abc'], ['ac', 'a/c']],
  ['x\\ ', ['x '], ['x']],
  ['**/**/r\n(', ['r', 'd/e/r', '('], ['rr']],
])('knows the rules of .gitignore: %j', async (rules, ignored, kept) => {
  const names = [...ignored, ...kept];
  const parents = new Set(
    names.filter((name) => names.some((other) => other.startsWith(`${name}/`))),
  );
  put(...names.filter((name) => !parents.has(name) && !/(^|\/)dir$/.test(name)));
  if (ignored.includes('dir')) ['dir/x', 'd/dir/x'].forEach((path) => put(path));
  writeFileSync(join(bench.root, '.gitignore'), rules);
  const { paths } = await list({ depth: 5 });
  expect(paths).toEqual(expect.arrayContaining(kept));
  for (const path of ignored) expect(paths).not.toContain(path);
  expect((await list({ depth: 5, hidden: true })).paths).toEqual(expect.arrayContaining(names));
});

it('applies the rules of folders above and below', async () => {
  put('src/a.tmp', 'src/b.js', 'src/gen/c.js', '.git/HEAD', 'node_modules/m.js');
  writeFileSync(join(bench.root, '.gitignore'), '*.tmp\nsrc/gen\n');
  writeFileSync(join(bench.root, 'src/.gitignore'), '!a.tmp\n');
  expect((await list()).paths).toEqual([
    '.gitignore',
    'src',
    'src/.gitignore',
    'src/a.tmp',
    'src/b.js',
  ]);
  expect((await list({ path: 'src' })).paths).toEqual(['src/.gitignore', 'src/a.tmp', 'src/b.js']);
});

it('lists many files in little time and can be cancelled', async () => {
  for (let folder = 0; folder < 20; folder++)
    put(...Array.from({ length: 100 }, (_, n) => `f${folder}/n${n}`));
  expect((await list({ limit: 20_000 })).paths).toHaveLength(2_020);
  await expect(bench.call('files.list', {}, AbortSignal.abort())).rejects.toMatchObject({
    code: 'cancelled',
  });
});
