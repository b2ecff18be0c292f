import type { Stats } from 'node:fs';

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

/** The kind of an entry of a folder, whose link was not followed. */
export function entryKindOf(
  entry: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>,
): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
