import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { AppError, ignoreError } from '@belay/protocol';
import { allows, W_OK } from '../permissions.js';
import { errorNumber } from './fault.js';
import type { WorkspacePath } from './workspace-folder.js';

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The size limit of files that are edited as a whole, in memory. */
export const maxEditable = 50_000_000;
const largestSmall = 1_000_000;
/** The prefix of unfinished writes; the history leaves them out. */
export const temporaryPrefix = '.belay-write-';

/** The file’s state without following a link; null if it does not exist. */
export async function statsAt(place: WorkspacePath): Promise<Stats | null> {
  try {
    return await lstat(place.at);
  } catch (error) {
    if (errorNumber(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Opens a regular file for reading. Pipes, sockets and devices are refused without blocking. */
export async function openToRead(
  place: WorkspacePath,
): Promise<{ file: FileHandle; stats: Stats }> {
  requireFile(place, await lstat(place.at));
  const file = await open(place.at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = await file.stat();
    requireFile(place, stats);
    return { file, stats };
  } catch (error) {
    await file.close();
    throw error;
  }
}

export interface Loaded {
  bytes: Buffer;
  mode: number;
}

/** A file’s bytes and mode; null when there is no file. */
export async function load(place: WorkspacePath): Promise<Loaded | null> {
  if ((await statsAt(place)) === null) return null;
  const { file, stats } = await openToRead(place);
  try {
    if (stats.size > maxEditable) {
      throw new AppError(
        'too_large',
        `${place.given} is larger than ${maxEditable / 1_000_000} MB: change it with a command in the terminal.`,
      );
    }
    return { bytes: await file.readFile(), mode: stats.mode & 0o7777 };
  } finally {
    await file.close();
  }
}

/** The bytes of a file that is not too large to read beside other work; null for a larger one, or anything else. */
export async function loadSmall(place: WorkspacePath): Promise<Buffer | null> {
  const stats = await statsAt(place);
  if (!stats?.isFile() || stats.size > largestSmall) return null;
  return (await load(place))?.bytes ?? null;
}

export interface Prepared {
  /** Atomically moves the new file to its place. */
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/**
 * Writes a file beside its place; `commit` renames it, so that a reader sees either the old or the new file. The mode
 * is kept. A file with several hard links is replaced by a separate file: the other names keep the old bytes.
 */
export async function prepareWrite(
  place: WorkspacePath,
  bytes: Uint8Array,
  mode?: number,
): Promise<Prepared> {
  const before = await statsAt(place);
  if (before) {
    requireFile(place, before);
    if (!allows(before, W_OK)) {
      throw new AppError('forbidden', `Permission denied for ${place.given}.`);
    }
  }
  const temporary = `${place.parent}/${temporaryPrefix}${randomBytes(8).toString('hex')}`;
  const discard = () => unlink(temporary).catch(ignoreError('it was renamed or never written'));
  try {
    const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
    try {
      await file.writeFile(bytes);
      const kept = mode ?? (before ? before.mode & 0o7777 : undefined);
      if (kept !== undefined) await file.chmod(kept);
    } finally {
      await file.close();
    }
  } catch (error) {
    await discard();
    throw error;
  }
  return { commit: () => rename(temporary, place.at), discard };
}

export async function replaceFile(
  place: WorkspacePath,
  bytes: Uint8Array,
  mode?: number,
): Promise<void> {
  const prepared = await prepareWrite(place, bytes, mode);
  try {
    await prepared.commit();
  } catch (error) {
    await prepared.discard();
    throw error;
  }
}

/** A file mode with or without execute permission for everyone with read permission. */
export const withExecutable = (mode: number, executable: boolean): number =>
  executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;

export function requireFile(place: WorkspacePath, stats: Stats): void {
  if (stats.isFile()) return;
  throw new AppError('invalid_input', `${place.given} is ${kindOf(stats)}, not a file.`);
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isSymbolicLink()) return 'a symbolic link';
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}
