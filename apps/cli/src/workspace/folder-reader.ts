import { lstat } from 'node:fs/promises';
import type { FolderItem, FolderReader } from '@belay/client';
import { entryKindOf, reach, readFolder } from '@belay/host';
import { readRegular } from './list-workspace.js';

/** Reads below a folder of this machine, without following links. */
export function folderReader(root: string): FolderReader {
  return {
    entries: async (path) => {
      const entries = await readFolder(root, path);
      return entries.map(({ name, kind }) => ({ name: name.toString(), kind }));
    },
    item: (path) => reach(root, path, ({ at }) => lstat(at)).then(itemOf, () => undefined),
    text: async (path, maxBytes) => (await readRegular(root, path, maxBytes))?.toString(),
  };
}

function itemOf(stat: Awaited<ReturnType<typeof lstat>>): FolderItem {
  return { kind: entryKindOf(stat), size: Number(stat.size), modified: stat.mtime };
}
