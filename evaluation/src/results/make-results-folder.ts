import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { AppError } from '@belay/protocol';

/**
 * Creates a results folder and its parents. Node's own `recursive` never ends where the system
 * denies a folder with ENOENT, as in /proc. Throws `invalid_input` with one sentence.
 */
export function makeResultsFolder(path: string): void {
  const missing: string[] = [];
  try {
    for (let at = resolve(path); !isFolder(at); at = dirname(at)) missing.push(at);
    for (const each of missing.toReversed()) makeOne(each);
  } catch (error) {
    throw unusableFolder(path, error);
  }
}

/** An error with one sentence for a results folder that cannot be created or written to. */
export function unusableFolder(path: string, error: unknown): AppError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return new AppError(
    'invalid_input',
    `The results folder ${path.slice(0, 200)} cannot be used: ${reasons[code] ?? message}. Name another with --out.`,
  );
}

const reasons: Record<string, string> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'nothing can be written there',
  ENOENT: 'the system does not allow folders there',
  ENOTDIR: 'a file has this name',
  EEXIST: 'a file has this name',
  ENAMETOOLONG: 'its name is too long for this system',
  ENOSPC: 'the disk is full',
};

/** Throws ENOTDIR if the path is a file. */
function isFolder(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) throw Object.assign(new Error(path), { code: 'ENOTDIR' });
  return found !== undefined;
}

/** Another process may have created it in the meantime. */
function makeOne(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error;
  }
}
