import { buildTree, byTreeOrder, foldersAbove, visibleRows } from './file-tree';

const tree = buildTree([
  { path: 'b.txt', kind: 'file' },
  { path: './src/lib/deep.ts', kind: 'file' },
  { path: 'src', kind: 'folder' },
  { path: 'src/a.ts', kind: 'file' },
  { path: '.', kind: 'folder' },
]);
const rows = (...open: string[]) =>
  visibleRows(tree, new Set(open)).map(({ node, depth }) => `${depth} ${node.path}`);

it('creates folders that were not listed and sorts folders first', () => {
  expect(rows()).toEqual(['0 src', '0 b.txt']);
  expect(rows('src', 'src/lib')).toEqual([
    '0 src',
    '1 src/lib',
    '2 src/lib/deep.ts',
    '1 src/a.ts',
    '0 b.txt',
  ]);
});

it('sorts numbers in names by value', () => {
  const files = ['test10.ts', 'Test2.ts', 'test1.ts'].map((path) => ({
    path,
    kind: 'file' as const,
  }));
  expect(buildTree(files).map(({ name }) => name)).toEqual(['test1.ts', 'Test2.ts', 'test10.ts']);
});

it('sorts paths as the tree does', () => {
  const paths = ['b.txt', 'file10', 'file2', 'src/lib/deep.ts', 'src/a.ts', 'a/z', 'src/lib/a.ts'];
  const all = buildTree(paths.map((path) => ({ path, kind: 'file' })));
  const listed = visibleRows(all, new Set(['a', 'src', 'src/lib']))
    .filter(({ node }) => node.kind === 'file')
    .map(({ node }) => node.path);
  expect(paths.toSorted(byTreeOrder)).toEqual(listed);
});

it('lists the folders above a path', () => {
  expect(foldersAbove('a/b/c.ts')).toEqual(['a', 'a/b']);
});
