import { lstatSync, type Stats } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  rename,
  rm,
  rmdir,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@belay/protocol';
import { reach } from '@belay/host';

export interface PatchedFile {
  /** The path below the folder, as latin1 bytes. */
  path: string;
  /** The file’s state when it was read; undefined for a new file. */
  old?: Stats;
  /** The mode in git; undefined for a deleted file. */
  mode?: string;
  content?: Buffer;
}

/**
 * Replaces files of a folder, all or none. New files are created beside the old ones first; then the old files are
 * moved away and the new ones into place. On a failure, or if a file has changed since it was read, everything is
 * undone.
 */
export async function writeChanges(folder: string, changes: readonly PatchedFile[]): Promise<void> {
  const staging = await mkdtemp(join(folder, '.belay-apply-'));
  const undo: (() => Promise<void>)[] = [];
  try {
    for (const [index, change] of changes.entries())
      await stage(join(staging, `new-${index}`), change);
    for (const [index, change] of changes.entries()) {
      if (change.old) await moveAway(folder, change, { to: join(staging, `old-${index}`), undo });
    }
    for (const change of changes)
      if (!change.mode) await removeEmptyFolders(folder, change.path, undo);
    for (const [index, change] of changes.entries()) {
      if (change.mode) await moveIn(folder, change, { from: join(staging, `new-${index}`), undo });
    }
  } catch (error) {
    for (const step of undo.toReversed()) await step();
    throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function stage(at: string, { old, mode, content = Buffer.of() }: PatchedFile): Promise<void> {
  if (!mode) return;
  if (mode === '120000') return symlink(content, at);
  await writeFile(at, content, { flag: 'wx', mode: mode === '100755' ? 0o777 : 0o666 });
  if (old?.isFile()) await chmod(at, permissionsOf(old, mode === '100755'));
}

/** The file’s permissions; execute permission is set for everyone who may read, or for nobody. */
const permissionsOf = ({ mode }: Stats, executable: boolean): number =>
  executable ? (mode & 0o777) | ((mode & 0o444) >> 2) : mode & 0o666;

async function moveAway(
  folder: string,
  { path, old }: PatchedFile,
  { to, undo }: { to: string; undo: (() => Promise<void>)[] },
): Promise<void> {
  const target = Buffer.from(path, 'latin1');
  await reach(folder, target, async ({ at }) => {
    if (!isSame(await lstat(at), old)) throw changed(path);
    await rename(at, to);
  });
  undo.push(() => reach(folder, target, ({ at }) => rename(to, at)));
}

const isSame = (now: Stats, old?: Stats): boolean =>
  old !== undefined &&
  (['dev', 'ino', 'size', 'mode', 'mtimeMs', 'ctimeMs'] as const).every(
    (key) => now[key] === old[key],
  );

/** Removes empty folders above a deleted file, up to the first that is not empty. */
async function removeEmptyFolders(
  folder: string,
  path: string,
  undo: (() => Promise<void>)[],
): Promise<void> {
  const above = path.split('/').slice(0, -1).join('/');
  if (above === '') return;
  const target = Buffer.from(above, 'latin1');
  try {
    const { mode } = await reach(folder, target, async ({ at }) => {
      const stat = await lstat(at);
      await rmdir(at);
      return stat;
    });
    undo.push(() => reach(folder, target, async ({ at }) => mkdir(at, { mode: mode & 0o777 })));
  } catch {
    return; // It holds something, or is gone already.
  }
  await removeEmptyFolders(folder, above, undo);
}

async function moveIn(
  folder: string,
  { path }: PatchedFile,
  { from, undo }: { from: string; undo: (() => Promise<void>)[] },
): Promise<void> {
  const target = Buffer.from(path, 'latin1');
  const make = (made: Buffer) => undo.push(() => reach(folder, made, async ({ at }) => rmdir(at)));
  await reach(
    folder,
    target,
    async ({ at }) => {
      if (lstatSync(at, { throwIfNoEntry: false })) throw changed(path);
      await rename(from, at);
    },
    { make },
  );
  undo.push(() => reach(folder, target, ({ at }) => rename(at, from)));
}

const changed = (path: string): AppError =>
  new AppError(
    'conflict',
    `${JSON.stringify(Buffer.from(path, 'latin1').toString())} has changed meanwhile, or is already there.`,
  );
