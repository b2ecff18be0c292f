import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { file, type Entry } from '../entries.js';

/** A task that is a folder, as its relative paths and bytes. */
export interface TaskFolder {
  name: string;
  files: Map<string, Entry>;
}

const packed = z.object({
  task: z.string(),
  files: z.record(
    z.string(),
    z.union([
      z.string(),
      z.object({
        text: z.string().optional(),
        base64: z.string().optional(),
        executable: z.boolean().optional(),
      }),
    ]),
  ),
});

/** Lines of a JSONL file, gzipped or not; a `.json` list works too. */
export function readLines(path: string): unknown[] {
  const bytes = readFileSync(path);
  const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString();
  if (text.trimStart().startsWith('[')) return JSON.parse(text) as unknown[];
  return text
    .split('\n')
    .filter((line) => line.trim())
    .map((line, index) => {
      try {
        return JSON.parse(line) as unknown;
      } catch {
        throw new AppError('invalid_input', `${path}, line ${index + 1}, is not JSON.`);
      }
    });
}

/** The data file of a suite: the path itself, or the one file in the folder whose name matches. */
export function dataFile(path: string, matches: RegExp): string {
  if (!exists(path)) throw new AppError('invalid_input', `There is nothing at ${path}.`);
  if (statSync(path).isFile()) return path;
  const names = readdirSync(path).filter((name) => matches.test(name));
  if (names.length === 1 && names[0]) return join(path, names[0]);
  throw new AppError(
    'invalid_input',
    `${path} has ${names.length} files that match ${matches.source}: name one with --data.`,
  );
}

/**
 * Task folders below a path that have a file called `marker`, or the `tasks.jsonl` packing of them.
 * Names are relative to the path.
 */
export function readFolders(path: string, marker: string): TaskFolder[] {
  if (!exists(path)) throw new AppError('invalid_input', `There is nothing at ${path}.`);
  const archive = statSync(path).isFile() ? path : join(path, 'tasks.jsonl');
  const found = exists(archive) ? readPacked(archive) : walk(path, marker, '');
  const tasks = found.filter(({ files }) => files.has(marker));
  if (tasks.length > 0) return tasks.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  throw new AppError('invalid_input', `${path} has no folder with a ${marker}.`);
}

function readPacked(path: string): TaskFolder[] {
  return readLines(path).map((line) => {
    const { task, files } = packed.parse(line);
    const entries = Object.entries(files).map(([name, content]) => {
      if (typeof content === 'string') return file(name, content);
      const bytes = content.text ?? Buffer.from(content.base64 ?? '', 'base64');
      return file(name, bytes, content.executable ? 0o755 : 0o644);
    });
    return { name: task, files: new Map(entries.map((entry) => [entry.path, entry])) };
  });
}

function walk(root: string, marker: string, below: string): TaskFolder[] {
  const here = join(root, below);
  if (exists(join(here, marker)))
    return [{ name: below || basename(root), files: new Map(filesIn(here)) }];
  return readdirSync(here, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== '.git')
    .flatMap(({ name }) => walk(root, marker, below ? `${below}/${name}` : name));
}

function* filesIn(root: string, below = ''): Generator<[string, Entry]> {
  for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
    const path = below ? `${below}/${entry.name}` : entry.name;
    if (entry.isDirectory()) yield* filesIn(root, path);
    else if (entry.isFile()) {
      const executable = (statSync(join(root, path)).mode & 0o100) !== 0;
      yield [path, file(path, readFileSync(join(root, path)), executable ? 0o755 : 0o644)];
    }
  }
}

const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** The files below a folder of a task, with the folder taken off. */
export function below(files: Map<string, Entry>, prefix: string): Entry[] {
  return [...files.values()]
    .filter(({ path }) => path.startsWith(prefix))
    .map((entry) => ({ ...entry, path: entry.path.slice(prefix.length) }));
}

export function textOf(files: Map<string, Entry>, path: string): string | undefined {
  return files.get(path)?.bytes.toString();
}
