import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { contentHash } from '../entries.js';
import type { Task } from '../model.js';

/** The source of a task, which may be broken. */
export interface Readable<T> {
  /** The task's name, if the source itself has none. */
  name: string;
  /** The file and line, or the folder. */
  where: string;
  bytes: Buffer;
  /** Throws when it is broken. */
  read(): T;
}

/**
 * One task for each source. A broken source affects only its own task, whose trials give the
 * reason. Throws `invalid_input` if no source is readable, because the data are not of this suite
 * then.
 */
export function tasksFrom<T>(
  { suite, path }: { suite: string; path: string },
  all: Iterable<Readable<T>>,
  taskOf: (value: T, source: Readable<T>) => Task,
): Task[] {
  const faults: string[] = [];
  const tasks: Task[] = [];
  const places = new Map<string, string[]>();
  for (const each of all) {
    const task = readTask(suite, each, taskOf);
    if (task.broken && task.unsupported) faults.push(task.unsupported);
    places.set(task.id, [...(places.get(task.id) ?? []), each.where]);
    tasks.push(task);
  }
  if (tasks.length === 0)
    throw new AppError(
      'invalid_input',
      `${path} contains no tasks. Name data of the suite ${suite}.`,
    );
  if (faults.length < tasks.length) return withoutTwins(tasks, places);
  const more =
    faults.length > shownFaults ? ` ${faults.length - shownFaults} more tasks cannot be read.` : '';
  throw new AppError('invalid_input', `${faults.slice(0, shownFaults).join(' ')}${more}`);
}

/** Two tasks of one name would share their results. */
function withoutTwins(tasks: Task[], places: Map<string, string[]>): Task[] {
  for (const [id, [first, second, ...more]] of places)
    if (second !== undefined)
      throw new AppError(
        'invalid_input',
        `The task ${JSON.stringify(id.slice(0, 80))} is in the data ${more.length + 2} times: ${first}; and ${second}${more.length > 0 ? '; and others' : ''}. Keep one of them, or rename the others.`,
      );
  return tasks;
}

function readTask<T>(
  suite: string,
  source: Readable<T>,
  taskOf: (value: T, source: Readable<T>) => Task,
): Task {
  let value: T | undefined;
  try {
    value = source.read();
    return taskOf(value, source);
  } catch (error) {
    const fault = faultSentence(error, source.where);
    return brokenTask({ suite, id: idOf(value) ?? source.name, fault, bytes: source.bytes });
  }
}

const shownFaults = 3;

/** The fields with the task's name in formats of lines. */
const named = z.object({
  task_id: z.union([z.string(), z.number()]).optional(),
  instance_id: z.string().optional(),
});

function idOf(value: unknown): string | undefined {
  const { data } = named.safeParse(value);
  const id = data?.instance_id ?? data?.task_id;
  return id === undefined || id === '' ? undefined : String(id);
}

/** One sentence with the place, and with at most three wrong fields. */
export function faultSentence(error: unknown, where: string): string {
  if (error instanceof z.ZodError) {
    const issues = error.issues
      .slice(0, shownFaults)
      .map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`);
    return `${where}, cannot be read: ${issues.join('; ')}.`;
  }
  const message = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
  return message.includes(where) ? message : `${where}: ${message}`;
}

/** A task that never runs: each of its trials is invalid, with the error as its reason. */
function brokenTask({
  suite,
  id,
  fault,
  bytes,
}: {
  suite: string;
  id: string;
  fault: string;
  bytes: Buffer;
}): Task {
  return {
    suite,
    id,
    environment: {
      image: { kind: 'toolchain', name: 'base' },
      cpus: 1,
      memoryMb: 1,
      workdir: null,
      env: {},
      network: 'none',
    },
    user: null,
    artifacts: { kind: 'files', paths: [] },
    steps: [],
    scoring: 'final',
    tries: 1,
    broken: true,
    unsupported: fault,
    content: contentHash(suite, 'broken', bytes),
  };
}
