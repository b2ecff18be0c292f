import { closeSync, lstatSync, readdirSync, readFileSync, type Dirent } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Ignores } from '@belay/protocol';
import { throwIfAborted } from './fault.js';
import { openFolder, type WorkspaceFolder } from './workspace-folder.js';

interface TreeEntry {
  path: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  size: number;
  depth: number;
}

export interface TreeOptions {
  path: string;
  depth: number;
  /** Includes ignored files, and .git. */
  hidden: boolean;
  signal: AbortSignal;
}

/** Called with folders that could not be read, or are too deep. */
type Skipped = (path: string) => void;

interface Folder {
  path: string;
  depth: number;
  ignores: Ignores;
}

/** The entries below a folder, level by level, sorted by name; links are not followed. */
export async function* walkTree(
  workspace: WorkspaceFolder,
  options: TreeOptions,
  skipped: Skipped,
): AsyncGenerator<TreeEntry> {
  const top = await workspace.reach(options.path, (place) => {
    closeSync(openFolder(place.at, place.path).fd);
    return Promise.resolve(place.path);
  });
  const queue: Folder[] = [{ path: top, depth: 1, ignores: ignoresAbove(workspace, top) }];
  for (let next = queue.shift(); next; next = queue.shift()) {
    throwIfAborted(options.signal);
    const folder = next.depth > options.depth ? null : readFolder(workspace, next, options.hidden);
    if (!folder) {
      skipped(next.path);
      continue;
    }
    for (const entry of folder.entries) {
      yield entry;
      if (entry.kind === 'folder') {
        queue.push({ path: entry.path, depth: next.depth + 1, ignores: folder.ignores });
      }
    }
    await setImmediate();
  }
}

function readFolder(workspace: WorkspaceFolder, folder: Folder, hidden: boolean) {
  return withFolder(workspace, folder.path, (at, dirents) => {
    const ignores = withRulesOf(at, folder.path, folder.ignores);
    const entries = dirents
      .map((dirent) => entryOf(dirent, at, folder))
      .filter((entry) => entry !== null)
      .filter((entry) => hidden || !isHidden(entry, ignores))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
    return { entries, ignores };
  });
}

function isHidden(entry: TreeEntry, ignores: Ignores): boolean {
  const name = entry.path.slice(entry.path.lastIndexOf('/') + 1);
  return name === '.git' || ignores.has(entry.path, entry.kind === 'folder');
}

function entryOf(dirent: Dirent, at: string, folder: Folder): TreeEntry | null {
  const stats = lstatSync(`${at}/${dirent.name}`, { throwIfNoEntry: false });
  if (!stats) return null;
  const path = folder.path === '.' ? dirent.name : `${folder.path}/${dirent.name}`;
  const kind = stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'folder'
      : stats.isSymbolicLink()
        ? 'link'
        : 'other';
  return { path, kind, size: kind === 'file' ? stats.size : 0, depth: folder.depth };
}

function withFolder<T>(
  workspace: WorkspaceFolder,
  path: string,
  use: (at: string, entries: Dirent[]) => T,
): T | null {
  try {
    const { place, release } = workspace.hold(path);
    try {
      const folder = openFolder(place.at, path);
      try {
        return use(folder.at, readdirSync(folder.at, { withFileTypes: true }));
      } finally {
        closeSync(folder.fd);
      }
    } finally {
      release();
    }
  } catch {
    return null; // Gone or closed to us meanwhile: the caller names it as not traversed.
  }
}

function ignoresAbove(workspace: WorkspaceFolder, top: string): Ignores {
  const names = top === '.' ? [] : top.split('/');
  let ignores = Ignores.usual;
  for (const index of names.keys()) {
    const above = names.slice(0, index).join('/') || '.';
    ignores = withFolder(workspace, above, (at) => withRulesOf(at, above, ignores)) ?? ignores;
  }
  return ignores;
}

function withRulesOf(at: string, folder: string, ignores: Ignores): Ignores {
  const file = lstatSync(`${at}/.gitignore`, { throwIfNoEntry: false });
  if (!file?.isFile() || file.size > 1_000_000) return ignores;
  return ignores.with(readFileSync(`${at}/.gitignore`, 'utf8'), folder);
}
