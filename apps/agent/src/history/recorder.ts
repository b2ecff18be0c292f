import { lstat, readdir } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { AppError, totalOfChange, type ChangeTotal } from '@belay/protocol';
import { walkTree } from '../files/walk-tree.js';
import { WorkspaceFolder } from '../files/workspace-folder.js';
import { allows, R_OK } from '../permissions.js';
import { changeArguments, parseChanges, type Change } from './parse-changes.js';
import { emptyTree, writeCommit } from './write-commit.js';
import type { Git } from './git.js';
import { branch } from './repository.js';
import { SmallWorkspace } from './small-workspace.js';

/** Larger files are left out of the history. */
export const maxFileBytes = 50_000_000;

/** Above this number of files at once, such as at the start, their objects go into one pack instead of a file each. */
const manyFiles = 200;
/** Compression takes longer than everything else, so smaller amounts of data stay uncompressed. */
const maxUncompressedBytes = 600_000_000;

export interface Recorded {
  commit: string;
  parent: string | null;
  /** One for each path: a moved file has two. */
  changes: Change[];
  /** The same change as `workspace.diff` counts it. */
  total: ChangeTotal;
}

interface Last {
  commit: string;
  tree: string;
}

interface Scan {
  staged: boolean;
  there: string[];
  gone: string[];
}

export interface StepLabel {
  message: string;
  call: string;
}

/**
 * Records the workspace as commits. The caller runs one recording at a time. File names are bytes; in git’s input and
 * output they are latin1 text.
 */
export class Recorder {
  readonly #git: Git;
  /** Bytes staged since it was last set to 0. */
  stagedBytes = 0;
  readonly #leftOut = new Set<string>();
  #newlyLeftOut: string[] = [];
  /** The last commit, cached because no other process commits here. */
  #last: Last | null | undefined;
  /** True until something was staged in the repository. */
  #isNew = false;
  readonly #workspace: SmallWorkspace;
  /** The workspace’s state just before its last full recording. */
  #recordedState: string | undefined;

  constructor(git: Git) {
    this.#git = git;
    this.#workspace = new SmallWorkspace(git.places.workspace);
  }

  /** The repository was just made. */
  beginNew(): void {
    this.#isNew = true;
    this.#last = null;
  }

  /** Another program wrote commits to the repository, and their files to the workspace. */
  beginAgain(): void {
    this.#isNew = false;
    this.#last = undefined;
  }

  async head(): Promise<string | null> {
    return (await this.last())?.commit ?? null;
  }

  /** The last commit and its tree. */
  async last(): Promise<Last | null> {
    if (this.#last !== undefined) return this.#last;
    const format = '--format=%(objectname) %(tree)';
    const [commit, tree] = (await this.#git.run(['for-each-ref', format, branch]))
      .trim()
      .split(' ');
    this.#last = commit && tree ? { commit, tree } : null;
    return this.#last;
  }

  /** Files found since the last call that are too large for the history. */
  takeLeftOut(): string[] {
    return this.#newlyLeftOut.splice(0);
  }

  /** All files so far that are too large for the history. */
  get leftOut(): ReadonlySet<string> {
    return this.#leftOut;
  }

  /** Commits the changes of some paths or of all; null if there are none. */
  async record(step: StepLabel, paths?: readonly string[]): Promise<Recorded | null> {
    const state = this.#workspace.state();
    if (state !== undefined && state === this.#recordedState) return null;
    const recorded = await this.#recordChanges(step, paths);
    if (!paths) this.#recordedState = state;
    return recorded;
  }

  async #recordChanges(step: StepLabel, paths?: readonly string[]): Promise<Recorded | null> {
    const last = await this.last();
    const isNew = this.#isNew;
    this.#isNew = false;
    const isEmpty = (isNew || last?.tree === emptyTree) && (await this.#isEmpty());
    if (isEmpty) return isNew ? this.commitTree(emptyTree, step) : null;
    const changed = await this.stage(paths && this.#belowWorkspace(paths));
    if (last && !changed) return null;
    const tree = await this.stagedTree();
    return tree === last?.tree ? null : this.commitTree(tree, step);
  }

  /** Commits a tree as a step. */
  async commitTree(tree: string, step: StepLabel): Promise<Recorded> {
    const parent = await this.head();
    const message = messageOf(step);
    const commit = writeCommit(this.#git.places.folder, { tree, parent, message });
    this.#last = { commit, tree };
    if (!parent) return { commit, parent, changes: [], total: noChange };
    const changes = await this.#changesBetween(parent, commit, '--no-renames');
    const has = (status: Change['status']) => changes.some((change) => change.status === status);
    const counted =
      has('added') && has('deleted')
        ? await this.#changesBetween(parent, commit, '--find-renames')
        : changes;
    return { commit, parent, changes, total: totalOfChange({ files: counted }) };
  }

  async #isEmpty(): Promise<boolean> {
    return (await readdir(this.#git.places.workspace)).length === 0;
  }

  /** The tree of what is staged. */
  async stagedTree(): Promise<string> {
    return (await this.#git.run(['write-tree'])).trim();
  }

  /** Converts callers’ paths for git: relative to the workspace, links resolved. */
  #belowWorkspace(paths: readonly string[]): string[] {
    const workspace = new WorkspaceFolder(this.#git.places.workspace);
    return paths.flatMap((path) => {
      const below = relative(workspace.root, resolve(workspace.root, path));
      if (below === '') return ['.'];
      if (below === '..' || below.startsWith('../')) return [];
      try {
        const { place, release } = workspace.hold(path);
        release();
        return place.path === below ? [below] : [below, place.path];
      } catch {
        return [below]; // Gone: that is the change.
      }
    });
  }

  /** Updates the index from the workspace; returns whether it differs from the last commit. */
  async stage(paths?: readonly string[]): Promise<boolean> {
    if (paths?.length === 0) return false;
    const found = await this.#scan(paths);
    const files = await this.#worthKeeping(found.there);
    if (found.gone.length > 0) await this.#updateIndex(['--force-remove'], found.gone);
    if (files.length > 0) await this.#updateWhatStays(files);
    return found.staged || files.length > 0 || found.gone.length > 0;
  }

  /** Adds files even if rules ignore them. */
  update(files: readonly string[]): Promise<void> {
    this.#recordedState = undefined;
    return this.#updateIndex(['--add', '--remove', '--replace'], files);
  }

  /**
   * A file that disappears meanwhile fails the whole update. Then the halves are tried, down to that file, which is
   * left to the next step. If that does not help, the cause is another one.
   */
  async #updateWhatStays(files: readonly string[], tries = { left: 100 }): Promise<void> {
    try {
      await this.update(files);
    } catch (error) {
      const full = error instanceof AppError && error.code === 'disk_full';
      if (full || tries.left-- === 0) throw error;
      if (files.length === 1) return;
      const middle = Math.ceil(files.length / 2);
      await this.#updateWhatStays(files.slice(0, middle), tries);
      await this.#updateWhatStays(files.slice(middle), tries);
    }
  }

  async #updateIndex(flags: readonly string[], paths: readonly string[]): Promise<void> {
    const input = paths.map((path) => `${path}\0`).join('');
    const settings = paths.length > manyFiles ? this.#intoOnePack() : [];
    const args = [...settings, 'update-index', '-z', ...flags, '--stdin'];
    await this.#git.run(args, { input, encoding: 'latin1' });
  }

  /** Makes git stream files above its threshold into a pack. */
  #intoOnePack(): string[] {
    const level = this.stagedBytes > maxUncompressedBytes ? 1 : 0;
    return ['-c', 'core.bigFileThreshold=1', '-c', `pack.compression=${level}`];
  }

  /** The differences from the index, and whether the index differs from the last commit (`staged`). */
  async #scan(paths?: readonly string[]): Promise<Scan> {
    const only = paths ? ['--', ...paths] : [];
    const args = ['status', '--porcelain', '-z', ...only];
    const output = await this.#git.run(args, { encoding: 'latin1' });
    const found: Scan = { staged: false, there: [], gone: [] };
    for (const entry of output.split('\0')) {
      const path = entry.slice(3);
      if (path === '') continue;
      if (entry[0] !== ' ' && entry[0] !== '?') found.staged = true;
      if (entry[1] === 'D') found.gone.push(path);
      else if (path.endsWith('/')) found.there.push(...(await this.#filesBelow(path)));
      else if (entry[1] !== ' ') found.there.push(path);
    }
    return found;
  }

  /** The files of a repository inside the workspace, of which git lists only the folder. Its .git is left out. */
  async #filesBelow(path: string): Promise<string[]> {
    const workspace = new WorkspaceFolder(this.#git.places.workspace);
    const { signal } = new AbortController();
    const files: string[] = [];
    const options = { path: bytesOf(path).toString(), depth: 100, hidden: false, signal };
    for await (const entry of walkTree(workspace, options, () => undefined)) {
      if (entry.kind === 'file' || entry.kind === 'link') {
        files.push(Buffer.from(entry.path).toString('latin1'));
      }
    }
    return files;
  }

  /** Leaves out files that are too large or not readable, because one of them would make git refuse all. */
  async #worthKeeping(paths: readonly string[]): Promise<string[]> {
    const kept: string[] = [];
    for (const path of paths) {
      const full = Buffer.concat([Buffer.from(`${this.#git.places.workspace}/`), bytesOf(path)]);
      const stats = await lstat(full).catch(() => null);
      if (stats?.isFile()) {
        if (stats.size > maxFileBytes) {
          this.#leaveOut(bytesOf(path).toString());
          continue;
        }
        if (!allows(stats, R_OK)) continue;
        this.stagedBytes += stats.size;
      }
      kept.push(path);
    }
    return kept;
  }

  #leaveOut(path: string): void {
    if (this.#leftOut.has(path)) return;
    this.#leftOut.add(path);
    this.#newlyLeftOut.push(path);
  }

  async #changesBetween(
    from: string,
    to: string,
    renames: '--no-renames' | '--find-renames',
  ): Promise<Change[]> {
    const args = ['diff-tree', '-r', renames, ...changeArguments, from, to];
    return parseChanges(await this.#git.run(args));
  }
}

const noChange = totalOfChange({ files: [] });

function messageOf({ message, call }: StepLabel): string {
  const trailer = call === '' ? '' : `\n\n${callTrailer}${call}`;
  return `${message.replaceAll('\0', '') || 'Step'}${trailer}\n`;
}

const bytesOf = (path: string): Buffer => Buffer.from(path, 'latin1');

/** The last line of a commit’s message: the call that made it. */
export const callTrailer = 'Belay-Call: ';
