import { closeSync, constants, mkdirSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { AppError } from '@belay/protocol';
import { isThere } from '../permissions.js';
import { errorNumber, fault } from './fault.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
const maxLinks = 40;
const heldByNumber = isThere('/proc/self/fd');

/** A file or folder of the workspace whose parent folder is held open. It may not exist. */
export interface WorkspacePath {
  /** The path as the caller gave it, for messages. */
  readonly given: string;
  /** The path relative to the workspace, links resolved; `.` is the workspace. */
  readonly path: string;
  /**
   * The path for system calls: a name below a folder that is held open, so a link swapped in above it has no effect.
   */
  readonly at: string;
  /** The folder that contains it, held open. */
  readonly parent: string;
}

export interface ReachOptions {
  /** Whether a link at the end is followed (inside the workspace); otherwise the path means the link itself. */
  follow?: boolean;
  /** Creates missing parent folders. */
  make?: boolean;
}

interface Held {
  fd: number;
  at: string;
  name: string;
}

/**
 * The only way to a path of the workspace. Each component is opened without following links, below the folder
 * held before it (`/proc/self/fd/N/name`), and links are resolved here by the same walk: what `openat2` does with
 * RESOLVE_BENEATH. Users of a place must not follow a link at its end either (O_NOFOLLOW, lstat, rename, unlink).
 * Where the system has no /proc (macOS) the check holds, but not against a race.
 */
export class WorkspaceFolder {
  constructor(readonly root: string) {}

  async reach<T>(
    given: string,
    use: (place: WorkspacePath) => Promise<T>,
    options: ReachOptions = {},
  ): Promise<T> {
    const { place, release } = this.hold(given, options);
    try {
      return await use(place);
    } catch (error) {
      throw fault(error, given);
    } finally {
      release();
    }
  }

  /** Like `reach`, for a longer use: the caller releases the place. */
  hold(given: string, options: ReachOptions = {}): { place: WorkspacePath; release: () => void } {
    const held: Held[] = [];
    const release = () => {
      for (const { fd } of held.splice(0)) closeSync(fd);
    };
    try {
      const place = this.#walk(given, held, options);
      for (const { fd } of held.splice(0, held.length - 1)) closeSync(fd);
      return { place, release };
    } catch (error) {
      release();
      throw fault(error, given);
    }
  }

  #walk(given: string, held: Held[], options: ReachOptions): WorkspacePath {
    const todo = this.#parts(given, given);
    held.push(openFolder(this.root, ''));
    let links = 0;
    for (;;) {
      const name = todo.shift();
      const folder = held.at(-1);
      if (!folder) throw outside(given);
      if (name === undefined) return placeOf(given, held);
      if (name === '..') {
        if (held.length === 1) throw outside(given);
        closeSync(folder.fd);
        held.pop();
        continue;
      }
      const last = todo.length === 0;
      const at = `${folder.at}/${name}`;
      const target = last && options.follow === false ? null : linkAt(at);
      if (target !== null) {
        if (++links > maxLinks)
          throw new AppError('invalid_input', `${given} contains a loop of symbolic links.`);
        const absolute = target.startsWith('/');
        todo.unshift(...this.#parts(target, given));
        if (absolute) for (const { fd } of held.splice(1)) closeSync(fd);
        continue;
      }
      if (last) return placeOf(given, held, name);
      held.push(this.#enter(at, name, options));
    }
  }

  #enter(at: string, name: string, options: ReachOptions): Held {
    try {
      return openFolder(at, name);
    } catch (error) {
      if (errorNumber(error) !== 'ENOENT' || !options.make) throw error;
      mkdirSync(at, { recursive: true });
      return openFolder(at, name);
    }
  }

  /** An absolute path inside the workspace is made relative to it. */
  #parts(path: string, given: string): string[] {
    if (path.includes('\0')) throw new AppError('invalid_input', 'A path must not contain NUL.');
    let rest = path;
    if (path.startsWith('/')) {
      const root = [this.root, realpathSync(this.root)].find(
        (candidate) => path === candidate || path.startsWith(`${candidate}/`),
      );
      if (root === undefined) throw outside(given);
      rest = path.slice(root.length);
    }
    return rest.split('/').filter((part) => part !== '' && part !== '.');
  }
}

/** Opens a folder without following a link at its end. The caller closes it. */
export function openFolder(at: string, name: string): Held {
  const fd = openSync(at, O_RDONLY | O_DIRECTORY | (name === '' ? 0 : O_NOFOLLOW));
  return { fd, at: heldByNumber ? `/proc/self/fd/${fd}` : at, name };
}

function placeOf(given: string, held: Held[], name?: string): WorkspacePath {
  const parent = held.at(-1)?.at ?? '';
  const names = held.slice(1).map((folder) => folder.name);
  if (name !== undefined) {
    return { given, path: [...names, name].join('/'), at: `${parent}/${name}`, parent };
  }
  return { given, path: names.join('/') || '.', at: `${parent}/.`, parent };
}

function linkAt(at: string): string | null {
  try {
    return readlinkSync(at);
  } catch (error) {
    const number = errorNumber(error);
    if (number === 'EINVAL' || number === 'ENOENT' || number === 'ENOTDIR') return null;
    throw error;
  }
}

function outside(given: string): AppError {
  return new AppError('forbidden', `${given} is outside the workspace.`);
}
