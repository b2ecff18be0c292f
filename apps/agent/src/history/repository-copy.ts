import { readFileSync, writeFileSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, ignoreError } from '@belay/protocol';
import { pack, type Pack } from 'tar-stream';
import { z } from 'zod';
import { isThere } from '../permissions.js';
import { addPath } from './tar-with-repository.js';

/** A text for each path that differs once the file does. */
type Signatures = Map<string, string>;

/** The state of `.git`: its objects, which never change once they are written, and all else. */
interface Files {
  others: Signatures;
  objects: Signatures;
}

/** What changed in `.git` since the last part. */
export interface RepositoryChanges {
  /** Whether it is all of `.git`. */
  whole: boolean;
  removed: string[];
  /** A tar archive of what is new or changed. */
  tar(): Readable;
  /** The server has stored it as this part. */
  stored(n: number): void;
}

const remembered = z.object({
  n: z.number(),
  others: z.array(z.tuple([z.string(), z.string()])),
  objects: z.array(z.tuple([z.string(), z.string()])),
});

const root = '.git';
/** More files of `.git` would take too much of the agent’s memory. */
const mostFiles = 200_000;

/**
 * Finds what changed in the workspace’s own `.git`, for copies of it. No git runs in it: its settings are hostile. Its
 * files are read while programs write them, so references are read before the objects that they need.
 */
export class RepositoryCopy {
  readonly #workspace: string;
  readonly #memory: string;
  readonly #maxFiles: number;
  /** The part that `#files` describes; `any` for whatever the server has. */
  #part: number | 'any' | undefined;
  #files: Files = empty();
  /** Whether an object disappeared while the last copy was made: then another one is due. */
  isIncomplete = false;

  /** `memory` is the path of a file that tells a later agent what was copied. */
  constructor(workspace: string, memory: string, maxFiles = mostFiles) {
    this.#workspace = workspace;
    this.#memory = memory;
    this.#maxFiles = maxFiles;
  }

  /**
   * Changes since the part `after`, the server’s last one (0 for none); null if there are none. Rejects with `too_large`
   * if it has too many files.
   */
  async changes(after: number): Promise<RepositoryChanges | null> {
    if (this.#part === undefined) this.#remember();
    if (this.#part === 'any') this.#part = after;
    const whole = after === 0 || this.#part !== after;
    const before = whole ? empty() : this.#files;
    const others = await this.#others();
    if (whole ? after === 0 && others.size === 0 : isSame(before.others, others)) return null;
    const objects = await this.#objects(others);
    return {
      whole,
      removed: [...gone(before.others, others), ...gone(before.objects, objects)],
      tar: () => this.#tar(before, { others, objects }),
      stored: (n) => {
        this.#part = n;
        // Without their signatures, the references are sent again.
        this.#files = { others: this.isIncomplete ? new Map() : others, objects };
      },
    };
  }

  /** The workspace has the `.git` of the server’s last part. */
  async isRestored(): Promise<void> {
    const others = await this.#others();
    this.#files = { others, objects: await this.#objects(others) };
    this.#part = 'any';
  }

  /** Stores what was copied for a later agent. Never throws: without it, the next copy is a whole one. */
  save(): void {
    const { others, objects } = this.#files;
    if (!this.#part || this.#part === 'any') return;
    const found = { n: this.#part, others: [...others], objects: [...objects] };
    try {
      writeFileSync(this.#memory, JSON.stringify(found));
    } catch {
      // What was written of it is not read.
    }
  }

  #remember(): void {
    try {
      const { n, others, objects } = remembered.parse(
        JSON.parse(readFileSync(this.#memory, 'utf8')),
      );
      this.#part = n;
      this.#files = { others: new Map(others), objects: new Map(objects) };
    } catch {
      this.#part = 0;
    }
  }

  #tar(before: Files, { others, objects }: Files): Readable {
    const tar = pack();
    const out = new PassThrough();
    this.isIncomplete = false;
    const write = async () => {
      await this.#add(tar, before.others, others);
      // Those that the references need may be newer than the list of objects.
      for (const [path, signature] of await this.#objects(others)) objects.set(path, signature);
      this.isIncomplete = !(await this.#add(tar, before.objects, objects));
      tar.finalize();
    };
    write().catch((error: Error) => out.destroy(error));
    pipeline(tar, out).catch(ignoreError('the reader of `out` gets it'));
    return out;
  }

  /** False if something was gone by then; what cannot be read is left out. */
  async #add(tar: Pack, before: Signatures, now: Signatures): Promise<boolean> {
    let complete = true;
    for (const [path, signature] of now) {
      if (before.get(path) === signature) continue;
      const added = await addPath(tar, this.#workspace, path);
      if (!added && !isThere(join(this.#workspace, path))) complete = false;
    }
    return complete;
  }

  /** Everything but objects. Folders of objects are listed, without their content. */
  async #others(): Promise<Signatures> {
    const found: Signatures = new Map();
    await this.#look(root, found);
    return found;
  }

  async #look(path: string, found: Signatures): Promise<void> {
    const stats = await lstat(join(this.#workspace, path)).catch(() => null);
    if (!stats || isTemporary(path)) return;
    if (!stats.isDirectory()) {
      if (stats.isFile() || stats.isSymbolicLink())
        this.#note(found, path, `${stats.mode} ${stats.size} ${stats.mtimeMs} ${stats.ino}`);
      return;
    }
    this.#note(found, path, 'folder');
    if (hasObjects(path)) return;
    for (const name of await readdir(join(this.#workspace, path)).catch(() => []))
      await this.#look(`${path}/${name}`, found);
  }

  #note(found: Signatures, path: string, signature: string): void {
    if (found.size >= this.#maxFiles) throw new AppError('too_large', '.git has too many files.');
    found.set(path, signature);
  }

  async #objects(others: Signatures): Promise<Signatures> {
    const found: Signatures = new Map();
    for (const [path, signature] of others)
      if (signature === 'folder' && hasObjects(path)) await this.#lookAtObjects(path, found);
    return found;
  }

  async #lookAtObjects(folder: string, found: Signatures): Promise<void> {
    const entries = await readdir(join(this.#workspace, folder), { withFileTypes: true }).catch(
      () => [],
    );
    for (const entry of entries) {
      const path = `${folder}/${entry.name}`;
      if (entry.isFile() && neverChanges.test(entry.name)) this.#note(found, path, 'object');
      else if (entry.isDirectory()) {
        this.#note(found, path, 'folder');
        await this.#lookAtObjects(path, found);
      } else await this.#look(path, found);
    }
  }
}

const empty = (): Files => ({ others: new Map(), objects: new Map() });

/** Objects and packs are named after their content. */
const neverChanges = /^([0-9a-f]{38}|[0-9a-f]{62}|pack-[0-9a-f]+\.\w+)$/;

/** The objects of the repository, and those of submodules. */
const hasObjects = (path: string): boolean =>
  path.endsWith('/objects') && !/\/(refs|logs)\//.test(path);

/** In the copy, a lock would have no owner to release it. */
const isTemporary = (path: string): boolean => /\.lock$|\/tmp_[^/]*$/.test(path);

const isSame = (before: Signatures, now: Signatures): boolean =>
  before.size === now.size && [...now].every(([path, signature]) => before.get(path) === signature);

/** Paths that are no longer there, or are a folder now and were none before, or the other way round. */
function gone(before: Signatures, now: Signatures): string[] {
  const isFolder = (signature: string | undefined) => signature === 'folder';
  const found = new Set<string>();
  const top: string[] = [];
  for (const [path, signature] of before) {
    const same = now.get(path);
    if (same !== undefined && isFolder(same) === isFolder(signature)) continue;
    // A folder comes before its content, which goes with it.
    if (!found.has(path.slice(0, path.lastIndexOf('/')))) top.push(path);
    found.add(path);
  }
  return top;
}
