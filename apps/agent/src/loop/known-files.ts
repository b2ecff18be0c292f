import {
  fileConflictOf,
  fileNewsOf,
  type EventArgs,
  type FileChange,
  type FileConflict,
  type FileNews,
} from '@belay/protocol';
import { changedFile, shownFile, type KnownFile } from '../known-file.js';

/** The parts of files that the model has seen, by path. */
export type KnownFiles = Map<string, KnownFile>;

/**
 * Records what the result of a model’s call shows of files. Returns a file whose changes a refusal has shown
 * completely.
 */
export function learnResult(
  known: KnownFiles,
  result: EventArgs<'result'>,
): FileConflict | undefined {
  for (const news of fileNewsOf(result)) learn(known, news);
  const conflict = result.ok ? undefined : fileConflictOf(result.output);
  if (!conflict?.shown) return undefined;
  learn(known, { ...conflict, kind: 'changed', before: known.get(conflict.path)?.version ?? null });
  return conflict;
}

/** Records a user’s changes, once they were shown to the model. */
export function learnChanges(known: KnownFiles, changes: readonly FileChange[]): void {
  for (const change of changes) learn(known, { kind: 'changed', ...change });
}

function learn(known: KnownFiles, news: FileNews): void {
  if (news.kind === 'moved') return move(known, news);
  const { path, version } = news;
  if (news.kind === 'changed' && !follows(known, news)) return;
  const before = known.get(path);
  if (version === null) known.delete(path);
  else if (news.kind === 'shown') known.set(path, shownFile(before, version, news.part));
  else known.set(path, changedFile(before, version, news));
}

/** Whether a reader knew the file’s state before a change. */
function follows(known: KnownFiles, { path, before }: Extract<FileNews, { kind: 'changed' }>) {
  return before === undefined ? known.has(path) : (known.get(path)?.version ?? null) === before;
}

/** Moving a folder moves its files. */
function move(known: KnownFiles, { from, to }: { from: string; to: string }): void {
  const moved = [...known].filter(([path]) => path === from || path.startsWith(`${from}/`));
  for (const [path, version] of moved) {
    known.delete(path);
    known.set(to + path.slice(from.length), version);
  }
}
