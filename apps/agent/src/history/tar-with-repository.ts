import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack, type Headers, type Pack } from 'tar-stream';

/**
 * Adds the workspace’s current .git to a tar archive, so that a fork or a copy is also a repository. Changes to .git
 * meanwhile may be missing.
 */
export function tarWithRepository(files: Readable, workspace: string): Readable {
  const tar = pack();
  const out = new PassThrough();
  const write = async () => {
    await copyEntries(files, tar);
    await addTree(tar, workspace, '.git');
    tar.finalize();
  };
  write().catch((error: Error) => out.destroy(error));
  pipeline(tar, out).catch(() => files.destroy()); // The reader of `out` gets its error.
  out.once('close', () => files.destroy());
  return out;
}

async function copyEntries(files: Readable, tar: Pack): Promise<void> {
  const archive = extract();
  archive.on('entry', (header, entry, goOn) => {
    entry.pipe(tar.entry(header, goOn));
  });
  await pipeline(files, archive);
}

async function addTree(tar: Pack, workspace: string, path: string): Promise<void> {
  const stats = await addPath(tar, workspace, path);
  if (!stats?.isDirectory()) return;
  const names = await readdir(join(workspace, path)).catch(() => []);
  for (const name of names) {
    // In the copy, a lock would have no owner to release it.
    if (!name.endsWith('.lock')) await addTree(tar, workspace, `${path}/${name}`);
  }
}

/** Adds a file, a link, or a folder without its content; null if it is gone. */
export async function addPath(tar: Pack, workspace: string, path: string): Promise<Stats | null> {
  const full = join(workspace, path);
  const stats = await lstat(full).catch(() => null);
  if (!stats) return null;
  const header: Headers = { name: path, mode: stats.mode & 0o777, mtime: stats.mtime };
  if (stats.isDirectory()) await addEntry(tar, { ...header, type: 'directory' });
  else if (stats.isSymbolicLink())
    await addEntry(tar, { ...header, type: 'symlink', linkname: await readlink(full) });
  else if (stats.isFile() && !(await addFile(tar, full, header))) return null;
  return stats;
}

/** A pipe that took the file’s place has no writer, whom opening it would wait for. */
const withoutWaiting = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Writes exactly the number of bytes in the header, whatever happens to the file meanwhile; false if it cannot be read.
 */
async function addFile(tar: Pack, full: string, header: Headers): Promise<boolean> {
  const file = await open(full, withoutWaiting).catch(() => null);
  if (!file) return false;
  try {
    const { size } = await file.stat();
    const bytes = size > 0 ? file.createReadStream({ end: size - 1, autoClose: false }) : undefined;
    await addEntry(tar, { ...header, size }, bytes);
    return true;
  } finally {
    await file.close();
  }
}

/** Rejects once the reader has closed the archive: then it adds nothing, which its type does not say. */
async function addEntry(tar: Pack, header: Headers, content = Readable.from([])): Promise<void> {
  const entry: Writable | undefined = tar.entry(header);
  if (!entry) throw new Error('The archive was closed.');
  await pipeline(content, entry);
}
