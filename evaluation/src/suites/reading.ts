import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, posix, relative } from 'node:path';
import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { fileEntry, type Entry } from '../entries.js';
import type { Task } from '../model.js';
import { linesIn, unreadable, type Line } from '../lines.js';
import { lineFormat } from './line-format.js';
import { tasksFrom, type Readable } from './readable-tasks.js';

/** A task stored as a folder, with its files by relative path. */
export interface TaskFolder {
  name: string;
  /** Its path; for packed data the path that it would have. */
  path: string;
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

/** The values of a JSONL file, gzipped or not, one at a time; a `.json` list works too. */
export function* readLines(path: string): Generator<unknown> {
  for (const { read } of readEachLine(path)) yield read();
}

/** Like `readLines`, but a line that is not JSON affects only itself. */
export function* readEachLine(path: string): Generator<Readable<unknown>> {
  for (const line of linesIn(path)) {
    const where = `${path}, line ${line.number}`;
    if (line.number === 1 && isList(line)) return yield* listIn(path);
    yield {
      name: `line-${line.number}`,
      where,
      bytes: line.bytes,
      read: () => jsonOf(line, where),
    };
  }
}

const isList = ({ bytes }: Line) => bytes.toString('latin1', 0, 100).trimStart().startsWith('[');

function* listIn(path: string): Generator<Readable<unknown>> {
  let list: unknown[];
  try {
    list = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, '')) as unknown[];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw unreadable(path, error);
    throw new AppError('invalid_input', `${path} is not JSON: ${error.message}`);
  }
  for (const [index, value] of list.entries())
    yield {
      name: `entry-${index + 1}`,
      where: `${path}, entry ${index + 1}`,
      bytes: Buffer.from(JSON.stringify(value)),
      read: () => value,
    };
}

function jsonOf({ bytes }: Line, where: string): unknown {
  try {
    return parsedLine(bytes.toString());
  } catch {
    throw new AppError('invalid_input', `${where}, is not JSON.`);
  }
}

/**
 * Python writes numbers that JSON does not have. They become null, because their values are not
 * used.
 */
function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return JSON.parse(
      line.replace(/"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g, (part) =>
        part.startsWith('"') ? part : 'null',
      ),
    );
  }
}

/** The data file of a suite: the path itself, or the one file in the folder whose name matches. */
export function dataFile(path: string, matches: RegExp): string {
  if (!exists(path)) throw new AppError('invalid_input', `${path} does not exist.`);
  const isFile = statSync(path).isFile();
  const all = isFile ? [basename(path)] : readdirSync(path);
  const names = all.filter((name) => matches.test(name));
  const parquet = all.find((name) => name.endsWith('.parquet'));
  if (parquet && names.length === 0)
    throw new AppError(
      'invalid_input',
      `${isFile ? path : join(path, parquet)} is in the Parquet format, which is not read. Convert it to JSON Lines, for example with pandas: to_json(orient="records", lines=True).`,
    );
  if (isFile) return path;
  if (names.length === 1 && names[0]) return join(path, names[0]);
  throw new AppError(
    'invalid_input',
    `${path} has ${names.length} files that match ${matches.source}. Name one with --data.`,
  );
}

/** The tasks of a file of lines. Throws `invalid_input` if they are those of another suite. */
export function tasksOfLines(
  suite: string,
  path: string,
  taskOf: (line: unknown, source: Readable<unknown>) => Task,
): Task[] {
  const checked = (line: unknown, what: string) => {
    const format = lineFormat(line);
    if (format === null || format.suite === suite) return;
    throw new AppError('invalid_input', `${what} ${format.what}. ${format.remedy}`);
  };
  function* lines(): Generator<Readable<unknown>> {
    let isFirst = true;
    for (const source of readEachLine(path)) {
      // One sentence for the file, instead of one for each line.
      if (isFirst)
        checked(readable(source), `${path} is not data of the suite ${suite}: it begins with`);
      isFirst = false;
      yield source;
    }
  }
  return tasksFrom({ suite, path }, lines(), (line, source) => {
    checked(line, `${source.where}, is`);
    return taskOf(line, source);
  });
}

/** Undefined if it cannot be read. */
function readable({ read }: Readable<unknown>): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/**
 * The tasks of the folders below a path that contain a file called `marker`, or of a `tasks.jsonl`
 * file with packed folders. Names are relative to the path.
 */
export const tasksOfFolders = (
  { suite, path, marker }: { suite: string; path: string; marker: string },
  taskOf: (folder: TaskFolder) => Task,
) => tasksFrom({ suite, path }, readEachFolder(path, marker), taskOf);

export const readFolders = (path: string, marker: string): TaskFolder[] =>
  readEachFolder(path, marker).map(({ read }) => read());

/** Like `readFolders`, but an unreadable folder affects only itself. */
export function readEachFolder(path: string, marker: string): Readable<TaskFolder>[] {
  if (!exists(path)) return readPackedBelow(path, marker);
  const archive = statSync(path).isFile() ? path : join(path, 'tasks.jsonl');
  const found = exists(archive) ? [...readPacked(archive, marker)] : [...walk(path, marker, '')];
  if (found.length > 0) return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  throw new AppError('invalid_input', `${path} has no folder with a ${marker}.`);
}

/**
 * A folder that exists only in the packed file of a folder above it, such as the folder of one
 * language.
 */
function readPackedBelow(path: string, marker: string): Readable<TaskFolder>[] {
  let root = path;
  while (!exists(root) && dirname(root) !== root) root = dirname(root);
  const prefix = `${relative(root, path)}/`;
  const all = exists(join(root, 'tasks.jsonl')) ? readEachFolder(root, marker) : [];
  const found = all.filter(({ name }) => `${name}/`.startsWith(prefix));
  if (found.length === 0)
    throw new AppError('invalid_input', `${path.slice(0, 200)} does not exist.`);
  return found.map((folder) => {
    const name = folder.name.slice(prefix.length) || basename(path);
    return { ...folder, name, read: () => ({ ...folder.read(), name }) };
  });
}

/** Skips lines of folders without the marker, but not broken lines. */
function* readPacked(path: string, marker: string): Generator<Readable<TaskFolder>> {
  for (const line of readEachLine(path)) {
    const read = () => unpacked(line.read(), path);
    let folder: TaskFolder;
    try {
      folder = read();
    } catch {
      yield { ...line, read };
      continue;
    }
    if (folder.files.has(marker)) yield { ...line, name: folder.name, read: () => folder };
  }
}

function unpacked(line: unknown, path: string): TaskFolder {
  const { task, files } = packed.parse(line);
  const entries = Object.entries(files).map(([name, content]) => {
    if (posix.isAbsolute(name) || posix.normalize(name) !== name || name.split('/')[0] === '..')
      throw new AppError(
        'invalid_input',
        `${path}: the task ${task} has a file ${name}, which is outside its folder.`,
      );
    if (typeof content === 'string') return fileEntry(name, content);
    const bytes = content.text ?? Buffer.from(content.base64 ?? '', 'base64');
    return fileEntry(name, bytes, content.executable ? 0o755 : 0o644);
  });
  return {
    name: task,
    path: join(dirname(path), task),
    files: new Map(entries.map((entry) => [entry.path, entry])),
  };
}

function* walk(root: string, marker: string, below: string): Generator<Readable<TaskFolder>> {
  const here = join(root, below);
  if (exists(join(here, marker))) {
    const name = below || basename(root);
    const read = () => ({ name, path: here, files: new Map(filesIn(here)) });
    return yield { name, where: here, bytes: Buffer.from(name), read };
  }
  for (const entry of entriesIn(here))
    if (entry.isDirectory() && entry.name !== '.git')
      yield* walk(root, marker, below ? `${below}/${entry.name}` : entry.name);
}

function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw unreadable(folder, error);
  }
}

function* filesIn(root: string, below = ''): Generator<[string, Entry]> {
  for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
    const path = below ? `${below}/${entry.name}` : entry.name;
    if (entry.isDirectory()) yield* filesIn(root, path);
    else if (entry.isFile()) {
      const executable = (statSync(join(root, path)).mode & 0o100) !== 0;
      yield [path, fileEntry(path, readFileSync(join(root, path)), executable ? 0o755 : 0o644)];
    }
  }
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** The files below a folder of a task, with paths relative to that folder. */
export function entriesBelow(files: Map<string, Entry>, prefix: string): Entry[] {
  return [...files.values()]
    .filter(({ path }) => path.startsWith(prefix))
    .map((entry) => ({ ...entry, path: entry.path.slice(prefix.length) }));
}

export function fileText(files: Map<string, Entry>, path: string): string | undefined {
  return files.get(path)?.bytes.toString();
}
