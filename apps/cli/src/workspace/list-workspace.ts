import { constants, lstatSync, type Stats } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, Ignores } from '@belay/protocol';
import {
  HeldFolders,
  PrivateRepository,
  reach,
  readFolder,
  userIgnoreFile,
  type FolderEntry,
} from '@belay/host';

/** An entry below a folder. Its path is bytes, stored as latin1 text. */
export interface ListedPath {
  path: string;
  stat: Stats;
  /** Whether it is the top folder of a repository. */
  repository: boolean;
}

/** A folder that could not be listed. */
export type OnSkipped = (path: string, why: 'unreadable' | 'deep') => void;

/**
 * Lists the parts of a folder that belong to a workspace: in a repository, files that are tracked or not ignored;
 * elsewhere, what no `.gitignore` names, without installed packages and caches. The dashboard has the same rule. Nested repositories are listed in the same way, without their `.git`. No link is followed,
 * nothing in the folder is run or changed, and only the index and ignore files of its repositories are read.
 */
export async function* listWorkspace(root: string, skipped: OnSkipped): AsyncGenerator<ListedPath> {
  const top = topOf(root);
  const ignoreFile = top === undefined ? '' : await userIgnoreFile(root);
  const folders = new HeldFolders(root);
  const lister = new Lister({ root, ignoreFile, skipped, folders });
  try {
    yield* top === undefined
      ? lister.unignored('', { depth: 0, ignores: Ignores.usual })
      : lister.repository('', top, 0);
  } finally {
    folders.close();
  }
}

/** The nearest folder with a `.git`, from this one upward. */
export function topOf(folder: string): string | undefined {
  if (lstatSync(join(folder, '.git'), { throwIfNoEntry: false })) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : topOf(above);
}

const maxDepth = 200;
const maxIndexBytes = 500_000_000;

interface Listed {
  root: string;
  ignoreFile: string;
  skipped: OnSkipped;
  folders: HeldFolders;
}

interface Unignored {
  depth: number;
  ignores: Ignores;
}

class Lister {
  readonly #about: Listed;

  constructor(about: Listed) {
    this.#about = about;
  }

  async *unignored(path: string, at: Unignored): AsyncGenerator<ListedPath> {
    const entries = await this.#entries(path, at.depth);
    if (path !== '' && entries.some(isRepository)) {
      return yield* this.repository(path, join(this.#about.root, utf8(path)), at.depth);
    }
    yield* this.#each(path, entries, at);
  }

  async *#each(
    path: string,
    entries: FolderEntry[],
    { depth, ignores }: Unignored,
  ): AsyncGenerator<ListedPath> {
    const file = path === '' ? '.gitignore' : `${utf8(path)}/.gitignore`;
    const rules = await readRegular(this.#about.root, file, 1_000_000);
    const inside = rules ? ignores.with(rules.toString(), utf8(path)) : ignores;
    for (const { name, kind } of entries) {
      const inner = path === '' ? latin1(name) : `${path}/${latin1(name)}`;
      if (name.toString() === '.git' || inside.has(utf8(inner), kind === 'folder')) continue;
      const found = this.#look(inner);
      if (found) yield found;
      if (found && kind === 'folder')
        yield* this.unignored(inner, { depth: depth + 1, ignores: inside });
    }
  }

  /** Git’s listing of a folder in the work tree `top`; without git, what its `.gitignore` files leave. */
  async *repository(path: string, top: string, depth: number): AsyncGenerator<ListedPath> {
    const listed = depth > maxDepth ? [] : await this.#listed(path, top);
    if (!listed) {
      const ignores = Ignores.none;
      return yield* this.#each(path, await this.#entries(path, depth), { depth, ignores });
    }
    for (const name of new Set(listed)) {
      const inner = (path === '' ? '' : `${path}/`) + name.replace(/\/$/, '');
      const found = this.#look(inner);
      if (!found) continue;
      yield { ...found, repository: found.stat.isDirectory() };
      // Git lists nested repositories and submodules as folders.
      if (found.stat.isDirectory())
        yield* this.repository(inner, join(this.#about.root, utf8(inner)), depth + 1);
    }
  }

  async #listed(path: string, top: string): Promise<string[] | undefined> {
    const { root, ignoreFile, skipped } = this.#about;
    const repository = await PrivateRepository.create({ workTree: top, untrusted: root }).catch(
      (error: unknown) => {
        if (error instanceof AppError && error.code === 'unavailable') return undefined;
        throw error;
      },
    );
    if (!repository) return undefined;
    try {
      const hasIndex = await copyIndex(top, repository.folder);
      const ignores = ['-c', `core.excludesFile=${ignoreFile}`];
      const list = ['ls-files', '-z', '--others', '--exclude-standard'];
      const options = { folder: join(root, utf8(path)) };
      let result = await repository.run(
        [...ignores, ...list, ...(hasIndex ? ['-c'] : [])],
        options,
      );
      if (result.code !== 0 && hasIndex) {
        await rm(join(repository.folder, 'index'));
        result = await repository.run([...ignores, ...list], options);
      }
      if (result.code !== 0) {
        const message = `The files of ${options.folder} could not be listed: ${result.errors.trim()}`;
        throw new AppError('invalid_input', message);
      }
      for (const [, closed] of result.errors.matchAll(/could not open directory '(.*?)\/?'/g)) {
        skipped([path, closed].filter(Boolean).join('/'), 'unreadable');
      }
      return latin1(result.output).split('\0').filter(Boolean);
    } finally {
      await repository.remove();
    }
  }

  async #entries(path: string, depth: number): Promise<FolderEntry[]> {
    const { root, skipped } = this.#about;
    if (depth > maxDepth) {
      skipped(path, 'deep');
      return [];
    }
    return readFolder(root, Buffer.from(path, 'latin1')).catch((error: NodeJS.ErrnoException) => {
      if (path === '' || error.code !== 'EACCES') throw error;
      skipped(path, 'unreadable');
      return [];
    });
  }

  #look(path: string): ListedPath | undefined {
    try {
      const at = this.#about.folders.at(Buffer.from(path, 'latin1'));
      return { path, stat: lstatSync(at), repository: false };
    } catch {
      return undefined; // Deleted but tracked, gone meanwhile, or behind a link.
    }
  }
}

const isRepository = ({ name }: FolderEntry): boolean => name.toString() === '.git';

/** Only for a `.git` that is a folder, not a link or a file that names another one. */
async function copyIndex(top: string, to: string): Promise<boolean> {
  const entries = await readFolder(top, '.git').catch(() => []);
  const exclude = await readRegular(top, '.git/info/exclude', 1_000_000);
  if (exclude) await writeFile(join(to, 'info/exclude'), exclude);
  for (const { name } of entries) {
    if (!/^(index|sharedindex\.[0-9a-f]+)$/.test(name.toString())) continue;
    const bytes = await readRegular(top, `.git/${name.toString()}`, maxIndexBytes);
    if (bytes) await writeFile(join(to, name.toString()), bytes);
  }
  return entries.some(({ name }) => name.toString() === 'index');
}

/** A file below a folder, reached without links; undefined for other entries and for large ones. */
export async function readRegular(
  root: string,
  path: string,
  maxBytes: number,
): Promise<Buffer | undefined> {
  try {
    return await reach(root, path, async ({ at }) => {
      const file = await open(at, openFlags);
      try {
        const stat = await file.stat();
        return stat.isFile() && stat.size <= maxBytes ? await file.readFile() : undefined;
      } finally {
        await file.close();
      }
    });
  } catch {
    return undefined; // There is none, or it is a link.
  }
}

/** Does not block on a pipe, and refuses links. */
export const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const latin1 = (bytes: Buffer): string => bytes.toString('latin1');
const utf8 = (path: string): string => Buffer.from(path, 'latin1').toString();
