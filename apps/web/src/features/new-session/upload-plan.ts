import { historyFiles, looksSecret, NoHistory, secretIn } from '@belay/client';
import { Ignores } from '@belay/protocol';
import { readGitIndex, type TrackedKind } from './git-index';
import type { TarFile } from './pack-tar';
import type { PickedFolder } from './picked-folder';

/** The parts of a folder that become a session’s workspace. */
export interface UploadPlan {
  name: string;
  files: TarFile[];
  /** The repository’s history, which comes with the files. */
  history: TarFile[];
  /** Ignored files and folders; folders end with `/`. */
  ignored: string[];
  /** Files that look like secrets, with what they seem to contain. */
  secrets: { path: string; what: string }[];
  /** What else is missing, as sentences. */
  notes: string[];
}

const maxDepth = 200;
const maxIndexBytes = 500_000_000;
/** Larger files are rarely written by hand. */
const maxScannedBytes = 256 * 1024;
/** How many files are read at a time, because each read waits for another process. */
const atOnce = 32;

/**
 * Finds what to send of a folder, by the same rule as `belay run --workspace`: in a repository,
 * files that are tracked or not ignored, with its history; elsewhere, what no `.gitignore` names,
 * without installed packages and caches. Rejects when `signal` aborts.
 */
export async function planUpload(
  folder: PickedFolder,
  options: PlanOptions = {},
): Promise<UploadPlan> {
  const planner = new Planner(folder, options);
  await planner.top();
  return planner.plan;
}

interface PlanOptions {
  signal?: AbortSignal;
  /** Gets the number of files found so far. */
  onProgress?(files: number): void;
}

/** The rules for the entries of a folder. */
interface Rules {
  ignores: Ignores;
  /** The repository’s folder, with a slash at its end; empty for the top. */
  base: string;
  tracked: ReadonlyMap<string, TrackedKind>;
  /** The folders with tracked files. */
  trackedFolders: ReadonlySet<string>;
  /** Whether a folder above is ignored, so that only tracked files count. */
  onlyTracked: boolean;
}

class Planner {
  readonly plan: UploadPlan;
  readonly #folder: PickedFolder;
  readonly #options: PlanOptions;

  constructor(folder: PickedFolder, options: PlanOptions) {
    this.#folder = folder;
    this.#options = options;
    const { name } = folder;
    this.plan = { name, files: [], history: [], ignored: [], secrets: [], notes: [] };
  }

  async top(): Promise<void> {
    await this.#walk('', outside, 0);
    await this.#findSecrets();
  }

  async #walk(path: string, rules: Rules, depth: number): Promise<void> {
    this.#options.signal?.throwIfAborted();
    if (depth > maxDepth) {
      this.plan.notes.push(`Left out ${path}: more than ${maxDepth} folders deep.`);
      return;
    }
    const entries = await this.#folder.entries(path);
    const has = (wanted: string) => entries.some(({ name }) => name === wanted);
    // Git never looks into a repository inside, which has rules and a history of its own.
    const isRepository = has('.git');
    const own = isRepository ? await this.#rulesOf(path) : rules;
    const ignoreFile = has('.gitignore')
      ? await this.#folder.text(below(path, '.gitignore'), 1_000_000)
      : undefined;
    const inside = ignoreFile ? { ...own, ignores: own.ignores.with(ignoreFile, path) } : own;
    const files: string[] = [];
    for (const { name, kind } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (name === '.git') continue;
      const inner = below(path, name);
      if (kind === 'folder') await this.#enter(inner, inside, depth + 1);
      else if (this.#isWanted(inner, inside)) files.push(inner);
    }
    await this.#add(files, inside);
    if (isRepository) await this.#addHistory(path);
  }

  async #enter(path: string, rules: Rules, depth: number): Promise<void> {
    const local = path.slice(rules.base.length);
    const isIgnored = rules.onlyTracked || rules.ignores.has(path, true);
    const isTracked = rules.trackedFolders.has(local) || rules.tracked.has(local);
    if (isIgnored && !isTracked) {
      if (!rules.onlyTracked) this.plan.ignored.push(`${path}/`);
      return;
    }
    await this.#walk(path, { ...rules, onlyTracked: isIgnored }, depth);
  }

  #isWanted(path: string, rules: Rules): boolean {
    const kind = rules.tracked.get(path.slice(rules.base.length));
    if (kind === 'link') {
      this.plan.notes.push(`Left out ${path}: browsers cannot read links.`);
      return false;
    }
    if (kind !== undefined) return true;
    if (!rules.onlyTracked && !rules.ignores.has(path, false)) return true;
    if (!rules.onlyTracked) this.plan.ignored.push(path);
    return false;
  }

  async #add(paths: readonly string[], { base, tracked }: Rules): Promise<void> {
    const found = await inGroups(paths, (path) => this.#tarFile(path));
    for (const file of found) {
      const executable = tracked.get(file.path.slice(base.length)) === 'executable';
      this.plan.files.push(executable ? { ...file, executable } : file);
    }
    this.#options.onProgress?.(this.plan.files.length);
  }

  /** None if the file is gone meanwhile or cannot be read. */
  async #tarFile(path: string): Promise<TarFile[]> {
    const content = await this.#folder.file(path).catch(() => undefined);
    if (content) return [{ path, content, modified: content.lastModified }];
    this.plan.notes.push(`Left out ${path}: it cannot be read.`);
    return [];
  }

  /** The rules of the repository at a path: its tracked files, and `.git/info/exclude`. */
  async #rulesOf(path: string): Promise<Rules> {
    const own = below(path, '.git');
    const exclude = await this.#folder.text(`${own}/info/exclude`, 1_000_000);
    const index = await this.#folder.file(`${own}/index`);
    const config = (await this.#folder.text(`${own}/config`, 1_000_000)) ?? '';
    const idBytes = /objectformat\s*=\s*sha256/i.test(config) ? 32 : 20;
    const bytes = index && index.size <= maxIndexBytes ? await index.arrayBuffer() : undefined;
    const tracked = (bytes && readGitIndex(new Uint8Array(bytes), idBytes)) ?? new Map();
    return {
      ignores: exclude ? Ignores.none.with(exclude, path) : Ignores.none,
      base: path === '' ? '' : `${path}/`,
      tracked,
      trackedFolders: foldersOf(tracked.keys()),
      onlyTracked: false,
    };
  }

  async #addHistory(path: string): Promise<void> {
    const found = await historyFiles(this.#folder, path);
    if (!found) return;
    if (found instanceof NoHistory) {
      const whose = path === '' ? 'the folder' : path;
      this.plan.notes.push(`The files of ${whose} come without its git history: ${found.why}.`);
      return;
    }
    const modified = Date.now();
    const folders = found.folders.map((each) => ({
      path: each,
      content: new Blob(),
      modified,
      folder: true,
    }));
    const written = found.written.map((file) => ({
      path: file.path,
      content: new Blob([file.content]),
      modified,
    }));
    const copied = await inGroups(found.copied, (file) => this.#tarFile(file.path));
    this.plan.history.push(...folders, ...written, ...copied);
  }

  async #findSecrets(): Promise<void> {
    this.plan.secrets = await inGroups(this.plan.files, async ({ path, content }) => {
      const what = looksSecret(path) ? 'by its name' : await secretOf(content);
      return what === undefined ? [] : [{ path, what }];
    });
  }
}

const secretOf = async (content: Blob): Promise<string | undefined> =>
  content.size > maxScannedBytes ? undefined : secretIn(await content.text().catch(() => ''));

const outside: Rules = {
  ignores: Ignores.usual,
  base: '',
  tracked: new Map(),
  trackedFolders: new Set(),
  onlyTracked: false,
};

const below = (folder: string, name: string): string =>
  folder === '' ? name : `${folder}/${name}`;

function foldersOf(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    let end = path.lastIndexOf('/');
    while (end > 0 && !folders.has(path.slice(0, end))) {
      folders.add(path.slice(0, end));
      end = path.lastIndexOf('/', end - 1);
    }
  }
  return folders;
}

/** The results in order, with a few calls at a time. */
async function inGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R[]>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += atOnce)
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))).flat());
  return results;
}
