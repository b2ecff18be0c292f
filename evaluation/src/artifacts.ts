import { posix } from 'node:path';
import type { TaskContainer } from '@belay/containers';
import { readFiles } from './engine/task-files.js';
import type { Entry } from './entries.js';
import { isCollected, filterArtifacts } from './artifact-filter.js';
import { ReadBudget } from './read-budget.js';

/** What the verifier gets from an agent's container, and how the agent ended. */
export interface Artifacts {
  /** Absolute paths. */
  entries: Entry[];
  removed: string[];
  patch: Buffer | null;
  /** Changed paths that are not collected, for the record. */
  left: string[];
  timedOut: boolean;
  /** Whether to verify even an empty patch, as for baselines. */
  always: boolean;
  /** The agent's last message, or how its program exited. */
  note: string;
  /** Why the agent could not run, if the agent itself is not the cause. */
  broken: string | null;
  /** The output of the agent's program, for the record. */
  output?: string;
}

export const noArtifacts: Artifacts = {
  entries: [],
  removed: [],
  patch: null,
  left: [],
  timedOut: false,
  always: false,
  note: '',
  broken: null,
};

/** The changes of an exited container that may reach the verifier. */
export async function changesOf(container: TaskContainer): Promise<Artifacts> {
  const changes = await container.changes();
  const budget = new ReadBudget();
  const folders = new Set(changes.map(({ path }) => posix.dirname(path)));
  const added = new Set(changes.filter(({ kind }) => kind === 'added').map(({ path }) => path));
  const entries: Entry[] = [];
  const removed: string[] = [];
  const left: string[] = [];
  for (const { path, kind } of changes) {
    if (!isCollected(path)) left.push(path);
    else if (kind === 'removed') removed.push(path);
    else if (kind === 'added') {
      // The archive of a new folder contains its files.
      if (!added.has(posix.dirname(path)))
        entries.push(...(await readFiles(container, path, budget)));
    } else if (!folders.has(path)) entries.push(...(await readFiles(container, path, budget)));
  }
  const kept = new Set(filterArtifacts(entries));
  return {
    ...noArtifacts,
    entries: [...kept],
    removed,
    left: [
      ...left.filter((path) => !folders.has(path)),
      ...entries.flatMap((entry) => (kept.has(entry) ? [] : [entry.path])),
    ],
  };
}

/** The changes of a step on top of those of earlier steps. */
export function merge(before: Artifacts, later: Artifacts): Artifacts {
  const entries = new Map(before.entries.map((entry) => [entry.path, entry]));
  // A file or link that replaces a folder removes the folder's files.
  const replaced = later.entries.filter(({ kind }) => kind !== 'folder').map(({ path }) => path);
  for (const gone of [...later.removed, ...replaced])
    for (const path of entries.keys())
      if (path === gone || path.startsWith(`${gone}/`)) entries.delete(path);
  for (const entry of later.entries) entries.set(entry.path, entry);
  const removed = [...before.removed, ...later.removed].filter((path) => !entries.has(path));
  return {
    ...later,
    entries: [...entries.values()],
    removed,
    left: [...before.left, ...later.left],
  };
}
