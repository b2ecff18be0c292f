import { folderOfFiles, folderOfHandle, type PickedFolder } from './picked-folder';

const contents = { 'a.txt': 'a', 'src/b.ts': 'bb', 'src/deep/c.ts': 'ccc' };

const file = (path: string, text: string) =>
  Object.assign(new File([text], path.slice(path.lastIndexOf('/') + 1), { lastModified: 1_000 }), {
    webkitRelativePath: `app/${path}`,
  });

/** A handle as browsers have it, over the files above. */
function handleOf(name: string, path: string): FileSystemDirectoryHandle {
  const prefix = path === '' ? '' : `${path}/`;
  const inside = Object.entries(contents).filter(([each]) => each.startsWith(prefix));
  const children = new Map<string, { kind: string }>(
    inside.map(([each, text]) => {
      const rest = each.slice(prefix.length);
      const slash = rest.indexOf('/');
      if (slash < 0)
        return [rest, { kind: 'file', name: rest, getFile: async () => file(each, text) }];
      const folder = rest.slice(0, slash);
      return [folder, handleOf(folder, prefix + folder)];
    }),
  );
  const child = (kind: string) => async (wanted: string) => {
    const found = children.get(wanted);
    if (found?.kind === kind) return found;
    throw new DOMException('', found ? 'TypeMismatchError' : 'NotFoundError');
  };
  return {
    kind: 'directory',
    name,
    entries: () => children.entries(),
    getDirectoryHandle: child('directory'),
    getFileHandle: child('file'),
  } as unknown as FileSystemDirectoryHandle;
}

it.each<[string, () => PickedFolder]>([
  [
    'a list of files',
    () => folderOfFiles(Object.entries(contents).map(([path, text]) => file(path, text))),
  ],
  ['a handle', () => folderOfHandle(handleOf('app', ''))],
])('a folder is read from %s', async (_, open) => {
  const folder = open();
  expect(folder.name).toBe('app');
  // Before its parent was listed.
  expect(await folder.text('src/deep/c.ts', 10)).toBe('ccc');
  expect(await folder.entries('')).toEqual([
    { name: 'a.txt', kind: 'file' },
    { name: 'src', kind: 'folder' },
  ]);
  expect(await folder.item('src')).toMatchObject({ kind: 'folder' });
  expect(await folder.item('src/b.ts')).toEqual({
    kind: 'file',
    size: 2,
    modified: new Date(1_000),
  });
  expect(await folder.item('src/none')).toBeUndefined();
  expect(await folder.item('none/none')).toBeUndefined();
  expect(await folder.text('src/b.ts', 1)).toBeUndefined();
  expect(await folder.entries('none')).toEqual([]);
});
