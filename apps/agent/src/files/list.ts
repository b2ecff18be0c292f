import type { OperationInput, OperationOutput, filesOperations } from '@belay/protocol';
import { walkTree } from './walk-tree.js';
import type { WorkspaceFolder } from './workspace-folder.js';

type List = (typeof filesOperations)['files.list'];
const maxUntraversed = 500;

export async function listFiles(
  workspace: WorkspaceFolder,
  input: OperationInput<List>,
  signal: AbortSignal,
): Promise<OperationOutput<List>> {
  const entries: OperationOutput<List>['entries'] = [];
  const untraversed = new Set<string>();
  const options = { path: input.path, depth: input.depth, hidden: input.hidden, signal };
  for await (const entry of walkTree(workspace, options, (path) => untraversed.add(path))) {
    if (entries.length === input.limit) {
      untraversed.add(parentOf(entry.path));
      for (const left of entriesBelow(entries, entry)) untraversed.add(left);
      break;
    }
    entries.push({ path: entry.path, kind: entry.kind, size: entry.size });
  }
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { entries, untraversed: [...untraversed].sort().slice(0, maxUntraversed) };
}

const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0)) || '.';

/** Folders that were listed and not entered when the walk, level by level, stopped at an entry. */
function entriesBelow(
  entries: readonly { path: string; kind: string }[],
  stop: { path: string },
): string[] {
  const folders = entries.filter((entry) => entry.kind === 'folder').map((entry) => entry.path);
  const current = folders.indexOf(parentOf(stop.path));
  return folders.slice(current + 1);
}
