import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '@belay/protocol';
import { isSafePath, type PrivateRepository } from '@belay/host';

export interface GitTreeEntry {
  mode: string;
  id: string;
  bytes: number;
  path: string;
}

export interface TreeLimits {
  entries: number;
  bytes: number;
}

/** The maximum size of a listing, by its number of entries. */
const bytesPerEntry = 300;

/**
 * All files of a commit, or of a folder in it, by their paths relative to that. Rejects with `too_large` before more
 * than that is read, so that an endless tree of trees costs nothing, and with `forbidden` for a path that would leave
 * its folder or enter a `.git`.
 */
export async function listTree(
  repository: PrivateRepository,
  { commit, subfolder = '', limits }: { commit: string; subfolder?: string; limits: TreeLimits },
): Promise<GitTreeEntry[]> {
  if (subfolder !== '' && !isSafePath(subfolder)) throw outside(subfolder);
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', `${commit}:${subfolder}`];
  const { code, output } = await repository
    .run(args, { maxBytes: limits.entries * bytesPerEntry, timeoutMs: 60_000 })
    .catch((error: unknown) => {
      throw error instanceof AppError && ['too_large', 'timeout'].includes(error.code)
        ? tooMany(limits)
        : error;
    });
  if (code !== 0)
    throw new AppError('not_found', `The repository has no folder ${subfolder || '/'}.`);
  const lines = output.toString('latin1').split('\0').filter(Boolean);
  if (lines.length > limits.entries) throw tooMany(limits);
  const entries = lines.map(entryOf);
  const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > limits.bytes)
    throw new AppError(
      'too_large',
      `The files are larger than ${Math.floor(limits.bytes / 2 ** 20)} MiB together.`,
    );
  return entries;
}

/**
 * Writes the regular files of a commit, or of a folder in it, into an empty folder of the caller: no links or
 * submodules (both are refused with `forbidden`), nothing named `.git`, no attributes or filters. Rejects before
 * anything is written if a path or the size is not allowed.
 */
export async function writeTree(
  repository: PrivateRepository,
  { target, ...what }: { commit: string; subfolder?: string; target: string; limits: TreeLimits },
): Promise<void> {
  const entries = await listTree(repository, what);
  for (const { mode, path } of entries) {
    if (mode === '100644' || mode === '100755') continue;
    const kind = mode === '160000' ? 'a submodule' : 'a link';
    throw new AppError('forbidden', `${shown(path)} is ${kind}, and only files are taken.`);
  }
  const blobs = new BlobReader(repository);
  try {
    for (const { mode, path, id, bytes } of entries) {
      const file = Buffer.from(join(target, '/'), 'utf8').toString('latin1') + path;
      await mkdir(Buffer.from(dirname(file), 'latin1'), { recursive: true });
      const content = await blobs.read(id, bytes);
      // `wx` refuses two names that are the same on this file system, instead of overwriting.
      const handle = await open(
        Buffer.from(file, 'latin1'),
        'wx',
        mode === '100755' ? 0o755 : 0o644,
      );
      try {
        await handle.writeFile(content);
      } finally {
        await handle.close();
      }
    }
  } finally {
    blobs.close();
  }
}

function entryOf(line: string): GitTreeEntry {
  const [, mode, id, bytes, path] = /^(\d{6}) \w+ ([0-9a-f]{40}) +(\d+|-)\t(.*)$/s.exec(line) ?? [];
  if (mode === undefined || id === undefined || path === undefined)
    throw new AppError('invalid_input', 'The repository has a folder that cannot be read.');
  if (!isSafePath(Buffer.from(path, 'latin1').toString())) throw outside(path);
  return { mode, id, path, bytes: Number(bytes) || 0 };
}

/** Reads many blobs with one `git cat-file`. */
export class BlobReader {
  readonly #child;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(repository: PrivateRepository) {
    this.#child = repository.start(['cat-file', '--batch']);
    this.#child.stderr.resume();
    this.#child.stdin.on('error', () => this.#child.kill('SIGKILL'));
    this.#chunks = this.#child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** The size must match the listing; another size means a broken repository. */
  async read(id: string, bytes: number): Promise<Buffer> {
    const header = `${id} blob ${bytes}\n`;
    if (!this.#child.stdin.write(`${id}\n`)) await once(this.#child.stdin, 'drain');
    const all = await this.#take(header.length + bytes + 1);
    if (all.toString('latin1', 0, header.length) !== header)
      throw new AppError('invalid_input', 'The repository has a file that cannot be read.');
    return all.subarray(header.length, header.length + bytes);
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }

  async #take(bytes: number): Promise<Buffer> {
    const chunks = [this.#rest];
    let size = this.#rest.length;
    while (size < bytes) {
      const { value, done } = await this.#chunks.next();
      if (done) throw new AppError('invalid_input', 'The repository has a file that is missing.');
      chunks.push(value);
      size += value.length;
    }
    const all = Buffer.concat(chunks);
    this.#rest = all.subarray(bytes);
    return all.subarray(0, bytes);
  }
}

const shown = (path: string): string => JSON.stringify(path.slice(0, 200));

const outside = (path: string): AppError =>
  new AppError('forbidden', `${shown(path)} is not a path for a file of a repository.`);

const tooMany = ({ entries }: TreeLimits): AppError =>
  new AppError('too_large', `The repository has more than ${entries} files.`);
