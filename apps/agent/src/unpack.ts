import { createWriteStream } from 'node:fs';
import { chmod, link, lstat, mkdir, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '@belay/protocol';
import { extract, type Headers } from 'tar-stream';

/**
 * Unpacks a tar archive into a folder: files with their modes, folders and links. Refuses an entry that would be
 * written outside the folder, by its name or through a link; what a link points at is its own affair.
 */
export async function unpackTar(tar: Readable, folder: string): Promise<void> {
  const root = resolve(folder);
  const archive = extract();
  archive.on('entry', (header, entry, next) => {
    void unpackEntry(root, { header, entry, next });
  });
  await pipeline(tar, archive);
}

async function unpackEntry(
  root: string,
  { header, entry, next }: { header: Headers; entry: Readable; next: (error?: unknown) => void },
): Promise<void> {
  try {
    const path = inside(root, header.name);
    await makeFolder(root, dirname(path));
    await write({ header, entry }, path, root);
    entry.resume();
    next();
  } catch (error) {
    next(error);
  }
}

async function write(
  { header, entry }: { header: Headers; entry: Readable },
  path: string,
  root: string,
): Promise<void> {
  const { type, mode = 0o644, linkname } = header;
  if (type === 'directory') {
    await makeFolder(root, path);
    return;
  }
  if (path === root) return;
  await rm(path, { force: true, recursive: true });
  if (type === 'symlink') await symlink(linkname ?? '', path);
  else if (type === 'link') await link(inside(root, linkname ?? ''), path);
  else if (type === 'file' || type === 'contiguous-file') {
    await pipeline(entry, createWriteStream(path, { mode: mode & 0o777 }));
    // The process' umask must not take away what the archive says.
    await chmod(path, mode & 0o777);
  }
}

function inside(root: string, name: string): string {
  const path = resolve(root, name.replace(/^\/+/, ''));
  if (path !== root && !path.startsWith(root + sep)) {
    throw new AppError('invalid_input', `The archive has an entry outside the workspace: ${name}`);
  }
  return path;
}

/** Makes the folders down to a path; one of them that is a link would lead elsewhere. */
async function makeFolder(root: string, path: string): Promise<void> {
  await mkdir(root, { recursive: true });
  let current = root;
  for (const part of relative(root, path).split(sep).filter(Boolean)) {
    current = join(current, part);
    const found = await lstat(current).catch(() => null);
    if (found && !found.isDirectory()) {
      throw new AppError('invalid_input', `The archive writes through ${current}, not a folder.`);
    }
    if (!found) await mkdir(current);
  }
}
