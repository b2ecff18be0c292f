import type { OperationInput, OperationOutput } from '@belay/protocol';
import { walkTree } from './walk-tree.js';
import type { WorkspaceFolder } from './workspace-folder.js';

const maxUntraversed = 500;
/** The limit up to which unlisted entries are counted. */
const maxCounted = 50_000;

export async function listFolder(
  workspace: WorkspaceFolder,
  input: OperationInput<'files.list'>,
  signal: AbortSignal,
): Promise<OperationOutput<'files.list'>> {
  const entries: OperationOutput<'files.list'>['entries'] = [];
  const untraversed = new Set<string>();
  const options = { path: input.path, depth: input.depth, hidden: input.hidden, signal };
  let left = 0;
  const skipped = (path: string) => {
    if (left === 0) untraversed.add(path);
  };
  for await (const entry of walkTree(workspace, options, skipped)) {
    if (left > 0 || entries.length === input.limit) {
      if (left++ === 0) {
        untraversed.add(parentOf(entry.path));
        for (const folder of foldersAfter(entries, entry)) untraversed.add(folder);
      }
      if (left === maxCounted) break;
      continue;
    }
    entries.push({ path: entry.path, kind: entry.kind, size: entry.size });
  }
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  const unentered = [...untraversed].sort();
  return { entries, left, untraversed: unentered.slice(0, maxUntraversed) };
}

const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0)) || '.';

/** Listed folders that were not entered when the level-by-level walk stopped at an entry. */
function foldersAfter(
  entries: readonly { path: string; kind: string }[],
  stop: { path: string },
): string[] {
  const folders = entries.filter((entry) => entry.kind === 'folder').map((entry) => entry.path);
  const current = folders.indexOf(parentOf(stop.path));
  return folders.slice(current + 1);
}
