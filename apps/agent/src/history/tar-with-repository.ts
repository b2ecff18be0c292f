import { constants } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack, type Headers, type Pack } from 'tar-stream';

/**
 * Adds the workspace’s current .git to a tar archive, so that a fork or a copy is also a repository. Changes to .git
 * meanwhile may be missing.
 */
export function tarWithRepository(files: Readable, workspace: string): Readable {
  const tar = pack();
  const out = new PassThrough();
  const closed = new AbortController();
  tar.once('close', () => closed.abort());
  const write = async () => {
    await copyEntries(files, tar);
    await addTree({ tar, closed: closed.signal }, workspace, '.git');
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

/** An archive, and whether its reader has closed it: then the archive ignores further entries without a word. */
interface Target {
  tar: Pack;
  closed: AbortSignal;
}

async function addTree(target: Target, workspace: string, path: string): Promise<void> {
  const full = join(workspace, path);
  const stats = await lstat(full).catch(() => null);
  if (!stats) return;
  const header: Headers = { name: path, mode: stats.mode & 0o777, mtime: stats.mtime };
  if (stats.isDirectory()) {
    await addEntry(target, { ...header, type: 'directory' });
    const names = await readdir(full).catch(() => []);
    for (const name of names) {
      // In the copy, a lock would have no owner to release it.
      if (!name.endsWith('.lock')) await addTree(target, workspace, `${path}/${name}`);
    }
  } else if (stats.isSymbolicLink()) {
    await addEntry(target, { ...header, type: 'symlink', linkname: await readlink(full) });
  } else if (stats.isFile()) {
    await addFile(target, full, header);
  }
}

/** A pipe that took the file’s place has no writer, whom opening it would wait for. */
const withoutWaiting = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Writes exactly the number of bytes in the header, whatever happens to the file meanwhile. */
async function addFile(target: Target, full: string, header: Headers): Promise<void> {
  const file = await open(full, withoutWaiting).catch(() => null);
  if (!file) return;
  try {
    const { size } = await file.stat();
    const bytes = size > 0 ? file.createReadStream({ end: size - 1, autoClose: false }) : undefined;
    await addEntry(target, { ...header, size }, bytes);
  } finally {
    await file.close();
  }
}

/** Resolves when the entry is written; rejects when its content cannot be read or the archive is closed. */
function addEntry({ tar, closed }: Target, header: Headers, content?: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    closed.throwIfAborted();
    const stop = () => reject(new Error('The archive was closed.'));
    closed.addEventListener('abort', stop);
    const done = (error?: Error | null) => {
      closed.removeEventListener('abort', stop);
      if (error) reject(error);
      else resolve();
    };
    if (!content) return void tar.entry(header, '', done);
    content.once('error', done);
    content.pipe(tar.entry(header, done));
  });
}
