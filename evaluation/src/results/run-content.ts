import { AppError } from '@belay/protocol';
import { contentHash } from '../entries.js';
import type { Task } from '../model.js';
import type { RunFile } from './run-file.js';

/**
 * The run with a hash over the content of its tasks, which does not depend on `timeoutMultiplier`,
 * and with their labels.
 */
export function withContent(run: RunFile, tasks: Task[]): RunFile {
  const ids = new Set(run.tasks);
  const chosen = new Set([...run.tasks, ...run.unattempted]);
  const labels = tasks.flatMap(({ id, labels: own }) => (own && chosen.has(id) ? [[id, own]] : []));
  return {
    ...run,
    labels: Object.fromEntries(labels) as RunFile['labels'],
    content: contentOf(tasks.filter(({ id }) => ids.has(id))),
  };
}

/**
 * Throws `conflict` if the tasks have changed: trials of other tasks with the same names are not
 * results of this run.
 */
export function checkUnchanged({ data, content }: RunFile, tasks: Task[]): void {
  if (content === null || content === contentOf(tasks)) return;
  throw new AppError(
    'conflict',
    `The data at ${data} has changed since this run began. Restore it, or start a new run.`,
  );
}

const contentOf = (tasks: Task[]): string =>
  contentHash(tasks.map(({ id, content }) => `${id} ${content}`).toSorted());
