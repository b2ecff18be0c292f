import { closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { AppError } from '@belay/protocol';
import { entryKindOf, type EntryKind } from './entry-kind.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/** A name below a folder that is held open: a link that is swapped in above it changes nothing. */
export interface Reached {
  /** Where system calls reach it. They must not follow a link at its end: lstat, readlink, rename, O_NOFOLLOW. */
  readonly at: Buffer;
  /** The folder that contains it. */
  readonly parent: Buffer;
}

export interface FolderEntry {
  /** The bytes of the name. */
  name: Buffer;
  kind: EntryKind;
}

type Path = string | Buffer;

/**
 * Calls `use` with the place of a path below `root`. Each folder on the way is opened below the one before it, and no
 * link is followed: one on the way fails with `forbidden`. `make` creates missing folders and gets their paths.
 * Where the system has no /proc (macOS) the check holds, but not against a race.
 */
export async function reach<T>(
  root: string,
  path: Path,
  use: (reached: Reached) => Promise<T>,
  options: { make?: (folder: Buffer) => void } = {},
): Promise<T> {
  const parts = partsOf(path);
  const name = parts.pop();
  let parent = hold(Buffer.from(root), 0);
  try {
    for (const [index, part] of parts.entries()) {
      parent = into(parent, part, options.make && (() => options.make?.(join(parts, index + 1))));
    }
    return await use({ at: name ? below(parent.at, name) : parent.at, parent: parent.at });
  } finally {
    closeSync(parent.descriptor);
  }
}

/** The entries of a folder below `root`; an empty path is the root itself. */
export async function readFolder(root: string, path: Path): Promise<FolderEntry[]> {
  const inside = Buffer.concat([Buffer.from(path), Buffer.from('/.')]);
  return reach(root, inside, async ({ parent }) => {
    const entries = await readdir(parent, { withFileTypes: true, encoding: 'buffer' });
    return entries.map((entry) => ({
      name: entry.name,
      kind: entryKindOf(entry),
    }));
  });
}

export interface Held {
  descriptor: number;
  at: Buffer;
}

const heldByNumber = existsSync('/proc/self/fd');

export function hold(at: Buffer, flags: number): Held {
  const descriptor = openSync(at, O_RDONLY | O_DIRECTORY | flags);
  return { descriptor, at: heldByNumber ? Buffer.from(`/proc/self/fd/${descriptor}`) : at };
}

/** Opens a folder below another one, and closes that. */
function into(folder: Held, name: Buffer, make?: () => void): Held {
  const inner = enter(folder, name, make);
  closeSync(folder.descriptor);
  return inner;
}

/** Opens a folder below another one. */
export function enter(folder: Held, name: Buffer, make?: () => void): Held {
  const at = below(folder.at, name);
  return open(at) ?? made(at, make);
}

function open(at: Buffer): Held | undefined {
  try {
    return hold(at, O_NOFOLLOW);
  } catch (error) {
    const number = errorNumber(error);
    if (number === 'ENOENT') return undefined;
    if (number !== 'ELOOP' && number !== 'ENOTDIR') throw error;
    const name = at.toString().split('/').at(-1);
    throw new AppError('forbidden', `${name} is a link or a file, but a folder is needed here.`);
  }
}

function made(at: Buffer, make?: () => void): Held {
  if (make) {
    mkdirSync(at);
    make();
  }
  return hold(at, O_NOFOLLOW);
}

/** The parts of a path; `.` at its end is kept, for the folder itself. */
export function partsOf(path: Path): Buffer[] {
  const names = Buffer.from(path).toString('latin1').split('/');
  if (names.includes('..'))
    throw new AppError('forbidden', `${path.toString()} leads out of its folder.`);
  return names.filter((name) => name !== '').map((name) => Buffer.from(name, 'latin1'));
}

const slash = Buffer.from('/');
export const below = (folder: Buffer, name: Buffer): Buffer => Buffer.concat([folder, slash, name]);
const join = (parts: Buffer[], count: number): Buffer =>
  parts.slice(0, count).reduce((path, part) => below(path, part));

const errorNumber = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
