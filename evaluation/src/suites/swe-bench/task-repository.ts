import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError, pluralText } from '@belay/protocol';
import { parse } from 'yaml';
import { z } from 'zod';
import { faultSentence, type Readable } from '../readable-tasks.js';
import { fileText, readEachFolder, type TaskFolder } from '../reading.js';

/** A task's folder with its parsed description. */
interface RepositoryTask extends TaskFolder {
  description: z.infer<typeof described>;
}

/** Its presence makes a folder a task. */
const taskFile = 'task.yaml';

/** Columns of a line that are files in a task's folder. */
const columns = {
  patch: 'gold.patch',
  test_patch: 'test.patch',
  problem_statement: 'problem_statement.md',
};

/** Whether a folder is a task repository of SWE-Bench, its folder of tasks, or one task. */
export const isTaskRepository = (path: string): boolean =>
  ['', ...namesIn(path), ...namesIn(join(path, 'tasks')).map((name) => join('tasks', name))].some(
    (name) => existsSync(join(path, name, taskFile)),
  );

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * The tasks in the splits that the repository publishes; a task that is named itself is always
 * read. `note` is called with a sentence about those that are left out.
 */
export function* publishedTasks(
  path: string,
  note?: (sentence: string) => void,
): Generator<Readable<RepositoryTask>> {
  const isPublished = publishedSplits(path);
  const left = new Map<string, number>();
  for (const each of readEachFolder(path, taskFile)) {
    const read = () => withDescription(each.read());
    const named = { ...each, name: basename(each.name), read };
    let task: RepositoryTask;
    try {
      task = read();
    } catch {
      yield named;
      continue;
    }
    const { split } = task.description;
    if (isPublished(split)) yield { ...named, read: () => task };
    else left.set(split, (left.get(split) ?? 0) + 1);
  }
  for (const [split, count] of left)
    note?.(
      `${pluralText(count, 'task is', 'tasks are')} left out: sweb.yaml does not publish the split ${split || 'without a name'}.`,
    );
}

const splits = z.object({ splits: z.array(z.string()).default(['test']) });

/** Without a list of splits, all but the deprecated tasks are published. */
function publishedSplits(path: string): (split: string) => boolean {
  if (existsSync(join(path, taskFile))) return () => true;
  const file = [path, dirname(path)].map((folder) => join(folder, 'sweb.yaml')).find(existsSync);
  if (!file) return (split) => split !== 'deprecated';
  try {
    const known = splits.parse(plainYaml(readFileSync(file, 'utf8'))).splits;
    return (split) => known.includes(split);
  } catch (error) {
    throw new AppError('invalid_input', faultSentence(error, file));
  }
}

const described = z.looseObject({ split: z.string().default('') });

/** Throws if the description cannot be read. */
const withDescription = (folder: TaskFolder): RepositoryTask => ({
  ...folder,
  description: described.parse(plainYaml(fileText(folder.files, taskFile) ?? '')),
});

/** All values are texts: versions, commits and names never become numbers or dates. */
const plainYaml = (text: string): unknown => parse(text, { schema: 'failsafe', logLevel: 'error' });

/** A task's folder as the line that SWE-Bench's data have for it. */
export function lineOfTask({ files, description }: RepositoryTask): object {
  const text = (file: string): string => {
    const found = fileText(files, file);
    if (found === undefined) throw new AppError('invalid_input', `it has no ${file}.`);
    return found;
  };
  const texts = Object.entries(columns).map(([column, file]) => [column, text(file)]);
  return {
    ...description,
    ...Object.fromEntries(texts),
    eval_script: fileText(files, 'eval.sh'),
    ...testsIn(text('tests.json')),
  };
}

function testsIn(text: string): object {
  try {
    return z
      .object({ FAIL_TO_PASS: z.unknown(), PASS_TO_PASS: z.unknown() })
      .parse(JSON.parse(text));
  } catch {
    throw new AppError('invalid_input', 'its tests.json is not JSON with two lists.');
  }
}
