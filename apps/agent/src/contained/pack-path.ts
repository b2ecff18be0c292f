import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '@belay/protocol';
import { pack, type Headers, type Pack } from 'tar-stream';

export interface PackPathOptions {
  /** Left out, with what is below. */
  skipped: ReadonlySet<string>;
  /** In ms since 1970: what was neither made nor changed since then is left out. */
  since?: number | undefined;
}

/**
 * A tar of a file, a link, or a folder with its content, with names that begin with its own. Throws `not_found` if it
 * does not exist.
 *
 * This process reads the files itself: a program that it would start could load a library that was left for it.
 */
export async function packPath(path: string, options: PackPathOptions): Promise<Readable> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (!found) throw new AppError('not_found', `There is no ${path}.`);
  const archive = pack();
  addAll(archive, { path, name: basename(path) || '.', stats: found }, options).then(
    () => archive.finalize(),
    (error: Error) => archive.destroy(error),
  );
  return archive as unknown as Readable;
}

interface Packed {
  path: string;
  name: string;
  stats: Stats;
}

async function addAll(
  archive: Pack,
  first: Packed,
  { skipped, since = 0 }: PackPathOptions,
): Promise<void> {
  const waiting = [first];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (next.stats.ctimeMs >= since) await add(archive, next);
    if (!next.stats.isDirectory()) continue;
    for (const entry of await readdir(next.path)) {
      const path = join(next.path, entry);
      if (skipped.has(path)) continue;
      waiting.push({ path, name: `${next.name}/${entry}`, stats: await lstat(path) });
    }
  }
}

/** Devices, sockets and pipes are left out. */
async function add(archive: Pack, { path, name, stats }: Packed): Promise<void> {
  const { uid, gid, mtime } = stats;
  const headers: Headers = { name, uid, gid, mtime, mode: stats.mode & 0o7777 };
  if (stats.isDirectory()) archive.entry({ ...headers, type: 'directory' });
  else if (stats.isSymbolicLink())
    archive.entry({ ...headers, type: 'symlink', linkname: await readlink(path) });
  else if (stats.isFile()) await addFile(archive, path, { ...headers, size: stats.size });
}

async function addFile(
  archive: Pack,
  path: string,
  headers: Headers & { size: number },
): Promise<void> {
  const entry = archive.entry({ ...headers, type: 'file' });
  if (headers.size === 0) return void entry.end();
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const content = file.createReadStream({ end: headers.size - 1, autoClose: false });
    await pipeline(content, entry);
  } finally {
    await file.close();
  }
}
