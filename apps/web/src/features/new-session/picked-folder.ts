import type { FolderItem, FolderReader } from '@belay/client';

/** A folder of the user’s machine that they chose. Browsers show no links in it. */
export interface PickedFolder extends FolderReader {
  readonly name: string;
  /** Undefined if there is no such file. */
  file(path: string): Promise<File | undefined>;
}

/** A folder chosen with a file input, which lists all of its files at once. */
export function folderOfFiles(files: readonly File[]): PickedFolder {
  const byPath = new Map<string, File>();
  const folders = new Map<string, Map<string, FolderItem['kind']>>();
  const name = files[0]?.webkitRelativePath.split('/')[0] ?? '';
  for (const file of files) {
    const path = file.webkitRelativePath.slice(name.length + 1) || file.name;
    byPath.set(path, file);
    register(path, 'file');
  }
  return readerOf(name, {
    entries: async (path) => [...(folders.get(path) ?? [])].map(([each, kind]) => [each, kind]),
    isFolder: async (path) => folders.has(path),
    file: async (path) => byPath.get(path),
  });

  function register(path: string, kind: FolderItem['kind']): void {
    const slash = path.lastIndexOf('/');
    const parent = slash < 0 ? '' : path.slice(0, slash);
    const known = folders.get(parent);
    if (known) known.set(path.slice(slash + 1), kind);
    else {
      folders.set(parent, new Map([[path.slice(slash + 1), kind]]));
      if (parent !== '') register(parent, 'folder');
    }
  }
}

/** A folder that the browser lets the page read one part at a time, and again later. */
export function folderOfHandle(top: FileSystemDirectoryHandle): PickedFolder {
  const handles = new Map<string, FileSystemHandle>([['', top]]);
  const handleAt = async (path: string): Promise<FileSystemHandle | undefined> => {
    const known = handles.get(path);
    if (known) return known;
    const slash = path.lastIndexOf('/');
    const parent = await handleAt(slash < 0 ? '' : path.slice(0, slash));
    if (!isFolder(parent)) return undefined;
    const name = path.slice(slash + 1);
    const found =
      (await parent.getDirectoryHandle(name).catch(absent)) ??
      (await parent.getFileHandle(name).catch(absent));
    if (found) handles.set(path, found);
    return found;
  };
  return readerOf(top.name, {
    entries: async (path) => {
      const folder = await handleAt(path);
      if (!isFolder(folder)) return [];
      const entries: [string, FolderItem['kind']][] = [];
      for await (const [name, handle] of folder.entries()) {
        handles.set(path === '' ? name : `${path}/${name}`, handle);
        entries.push([name, isFolder(handle) ? 'folder' : 'file']);
      }
      return entries;
    },
    isFolder: async (path) => isFolder(await handleAt(path)),
    file: async (path) => {
      const handle = await handleAt(path);
      return isFile(handle) ? handle.getFile() : undefined;
    },
  });
}

const isFolder = (handle: FileSystemHandle | undefined): handle is FileSystemDirectoryHandle =>
  handle?.kind === 'directory';
const isFile = (handle: FileSystemHandle | undefined): handle is FileSystemFileHandle =>
  handle?.kind === 'file';

/** The name belongs to an entry of the other kind, or to none. */
const absent = (): undefined => undefined;

interface Source {
  entries(path: string): Promise<[name: string, kind: FolderItem['kind']][]>;
  isFolder(path: string): Promise<boolean>;
  file(path: string): Promise<File | undefined>;
}

function readerOf(name: string, { entries, isFolder: isThere, file }: Source): PickedFolder {
  return {
    name,
    file,
    entries: async (path) => (await entries(path)).map(([each, kind]) => ({ name: each, kind })),
    item: async (path) => {
      if (await isThere(path)) return { kind: 'folder', size: 0, modified: new Date(0) };
      const found = await file(path);
      return found && { kind: 'file', size: found.size, modified: new Date(found.lastModified) };
    },
    text: async (path, maxBytes) => {
      const found = await file(path);
      return found && found.size <= maxBytes ? found.text() : undefined;
    },
  };
}
