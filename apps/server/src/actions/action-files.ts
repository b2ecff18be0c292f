import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { AppError } from '@belay/protocol';
import { extract, pack } from 'tar-stream';

/** A regular file of an action; links, devices and separate folders do not exist. */
export interface ActionFile {
  /** Parts separated by `/`, none of them empty, `.` or `..`. */
  path: string;
  executable: boolean;
  content: Buffer;
}

export const fileLimits = {
  /** The limits of one source, for all its actions together. */
  files: 5_000,
  bytes: 64 * 2 ** 20,
  pathBytes: 1_000,
} as const;

/** The same hash for the same files, in any order. */
export function digestOf(files: readonly ActionFile[]): string {
  const hash = createHash('sha256');
  for (const { path, executable, content } of sorted(files)) {
    hash.update(`${Buffer.byteLength(path)}:${path}${executable ? 'x' : '-'}${content.length}:`);
    hash.update(content);
  }
  return hash.digest('hex');
}

/** An archive of the files below `folder`, owned by root and readable by any user. */
export async function actionTar(
  files: readonly ActionFile[],
  folder: string,
  { readOnly = false }: { readOnly?: boolean } = {},
): Promise<Buffer> {
  const mask = readOnly ? 0o555 : 0o755;
  const archive = pack();
  const whole = buffer(archive);
  const about = { uid: 0, gid: 0, mtime: new Date(0) };
  for (const made of foldersOf(files.map(({ path }) => `${folder}/${path}`)))
    archive.entry({ ...about, name: made, type: 'directory', mode: 0o755 });
  for (const { path, executable, content } of sorted(files))
    archive.entry(
      { ...about, name: `${folder}/${path}`, mode: (executable ? 0o755 : 0o644) & mask },
      content,
    );
  archive.finalize();
  return whole;
}

/** The regular files below a trusted folder; none if it does not exist. Throws one sentence above the limits. */
export async function filesOfFolder(folder: string): Promise<ActionFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files: ActionFile[] = [];
  let bytes = 0;
  for (const entry of entries.filter((each) => each.isFile())) {
    const at = join(entry.parentPath, entry.name);
    const { mode, size } = await stat(at);
    bytes += size;
    assertWithin(files.length + 1, bytes);
    const path = checkedPath(relative(folder, at));
    files.push({ path, executable: (mode & 0o111) !== 0, content: await readFile(at) });
  }
  return files;
}

/** The regular files of an archive. Throws one sentence for any other kind of entry, and above the limits. */
export async function filesOfTar(archive: Buffer): Promise<ActionFile[]> {
  const files = new Map<string, ActionFile>();
  let bytes = 0;
  const reader = extract();
  reader.on('entry', (header, entry, next) => {
    const { name, type, size = 0, mode = 0 } = header;
    const take = async (): Promise<void> => {
      if (type === 'directory') return void entry.resume();
      if (type !== 'file') {
        throw new AppError(
          'invalid_input',
          `${shown(name)} is a ${type}: an action may contain only plain files.`,
        );
      }
      bytes += size;
      assertWithin(files.size + 1, bytes);
      const path = checkedPath(name.replace(/^\.\//, ''));
      files.set(path, { path, executable: (mode & 0o111) !== 0, content: await buffer(entry) });
    };
    // The next entry arrives once this one was read.
    entry.once('end', next);
    take().catch((error: Error) => reader.destroy(error));
  });
  try {
    await pipeline(Readable.from([archive]), reader);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError(
      'invalid_input',
      'The action’s archive cannot be read: it is not a tar archive.',
    );
  }
  return [...files.values()];
}

/** Throws `too_large`. */
export function assertWithin(files: number, bytes: number): void {
  if (files > fileLimits.files)
    throw new AppError('too_large', `It has more than ${fileLimits.files} files.`);
  if (bytes > fileLimits.bytes)
    throw new AppError('too_large', `Its files are larger than ${fileLimits.bytes / 2 ** 20} MiB.`);
}

/** The unchanged path, if it stays below its folder and is printable; otherwise throws. */
export function checkedPath(path: string): string {
  const parts = path.split('/');
  const leadsOut = parts.some((part) => part === '' || part === '.' || part === '..');
  const isOdd = /[\p{Cc}\p{Cf}\\]/u.test(path) || path.includes('\uFFFD');
  if (leadsOut || isOdd || Buffer.byteLength(path) > fileLimits.pathBytes)
    throw new AppError('invalid_input', `The path ${shown(path)} cannot be used.`);
  return path;
}

const shown = (path: string): string => JSON.stringify(path.slice(0, 200));

/** Sorted by bytes, independent of the locale. */
const sorted = (files: readonly ActionFile[]): ActionFile[] =>
  files.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));

function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    const parts = path.split('/').slice(0, -1);
    for (const index of parts.keys()) folders.add(parts.slice(0, index + 1).join('/'));
  }
  return [...folders].toSorted();
}
