import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { GitServer } from '../git-server.js';
import { gitIn } from '../hostile-repository.js';
import { LooseObjects, type TreeFiles } from './loose-objects.js';

export const noCommit = '0'.repeat(40);

/** No object that is pushed stays in a pack. */
const unpacked = `[receive]
	unpackLimit = 1000000
`;

/** As on all three hosts, commits can be fetched by id, even those of forks. */
const settings = `${unpacked}[uploadPack]
	allowAnySHA1InWant = true
[transfer]
	hideRefs = refs/network
`;

export interface PlayedCommit {
  id: string;
  parents: string[];
  tree: string;
  message: string;
  author: string;
  email: string;
  at: string;
}

interface NewCommit {
  ref: string;
  from: string | null;
  message: string;
  author: string;
  /** The content of each file by path; null deletes it. */
  files: Readonly<Record<string, string | null>>;
  at: number;
}

/**
 * The real git repositories behind a played host: bare ones, changed without a work tree. What a webhook or an answer
 * needs is read from their files, as git has written them: tests ask for hundreds of commits.
 */
export class PlayedGit {
  readonly #commits = new Map<string, PlayedCommit>();
  readonly #objects: LooseObjects;
  /** The outputs of git for arguments that name commits by their ids, which never change. */
  readonly #outputs = new Map<string, string>();
  readonly folder: string;

  constructor(
    private readonly server: GitServer,
    readonly path: string,
  ) {
    this.folder = this.#create(path, settings);
    this.#objects = new LooseObjects([this.folder]);
  }

  /** Creates an empty repository that is found with and without `.git`. */
  #create(path: string, more = unpacked): string {
    const folder = this.server.bare(`${path}.git`, more);
    this.#link(path);
    return folder;
  }

  /** Makes the repository found below another path, too. */
  alias(path: string): void {
    mkdirSync(join(this.server.folder, path, '..'), { recursive: true });
    for (const name of [path, `${path}.git`])
      if (!existsSync(join(this.server.folder, name)))
        symlinkSync(this.folder, join(this.server.folder, name));
  }

  /** Creates a fork that has the objects of the repository without copying them. */
  fork(path: string): string {
    const folder = this.#create(path);
    writeFileSync(join(folder, 'objects/info/alternates'), `${join(this.folder, 'objects')}\n`);
    cpSync(join(this.folder, 'refs/heads'), join(folder, 'refs/heads'), { recursive: true });
    return folder;
  }

  /** Makes the commits of a fork known to the repository, as one storage for all forks does. */
  share(fork: string, id: number): void {
    const [from, to] = [fork, this.folder].map((folder) => join(folder, 'objects'));
    const isObject = (path: string): boolean => basename(path) !== 'info';
    cpSync(from ?? '', to ?? '', { recursive: true, force: false, filter: isObject });
    for (const [ref, sha] of this.refs(fork))
      if (ref.startsWith('refs/heads/'))
        this.setRef(ref.replace('refs/heads/', `refs/network/${id}/`), sha);
  }

  /** The branches and tags with their commits, by name. */
  refs(folder = this.folder): Map<string, string> {
    const names = ['refs/heads', 'refs/tags'].flatMap((kind) => {
      const entries = readdirSync(join(folder, kind), { recursive: true, encoding: 'utf8' });
      return entries.toSorted().map((name) => `${kind}/${name}`);
    });
    return new Map(
      names.flatMap((name) => {
        const id = idOfRef(folder, name);
        return id === undefined ? [] : [[name, id] as const];
      }),
    );
  }

  /** The commit of a name or id, if there is one. */
  resolve(name: string, folder = this.folder): string | undefined {
    const id = idPattern.test(name) ? name : idOfName(folder, name);
    const objects = this.#objectsOf(folder);
    if (id !== undefined && objects.find(id)?.type === 'commit') return id;
    if (id === undefined && name.startsWith('refs/')) return undefined;
    try {
      return gitIn(folder, 'rev-parse', '--verify', '-q', `${id ?? name}^{commit}`).trim();
    } catch {
      return undefined;
    }
  }

  setRef(ref: string, sha: string | null): void {
    if (sha === null) return void gitIn(this.folder, 'update-ref', '-d', ref);
    this.#writeRef(this.folder, ref, sha);
  }

  commit({ ref, from, message, author, files, at }: NewCommit, folder = this.folder): string {
    const objects = this.#objectsOf(folder);
    const who = `${author} <${author.replaceAll(/[^\w.-]/g, '')}@example.com> ${Math.floor(at / 1000)} +0000`;
    const blobs = Object.entries(files).map(([path, content]) => {
      const id = content === null ? null : objects.write('blob', Buffer.from(content));
      return [path, id] as const;
    });
    const parent = from === null ? undefined : (this.resolve(from, folder) ?? from);
    const before = parent && commitIn(objects.read(parent), parent).tree;
    const tree = objects.writeTree(changed(before ? objects.files(before) : new Map(), blobs));
    const lines = [`tree ${tree}`, `author ${who}`, `committer ${who}`, '', message];
    if (parent !== undefined) lines.splice(1, 0, `parent ${parent}`);
    const made = objects.write('commit', Buffer.from(lines.join('\n')));
    this.#writeRef(folder, ref, made);
    return made;
  }

  /** Merges a commit into a branch; returns the merge, or nothing if they conflict. */
  merge(branch: string, sha: string, message: string): string | undefined {
    const tip = this.resolve(`refs/heads/${branch}`) ?? '';
    let tree;
    try {
      [tree = ''] = gitIn(this.folder, 'merge-tree', '--write-tree', tip, sha).split('\n');
    } catch {
      return undefined;
    }
    const parents = ['-p', tip, '-p', sha];
    const merge = gitIn(this.folder, 'commit-tree', tree, ...parents, '-m', message).trim();
    this.setRef(`refs/heads/${branch}`, merge);
    return merge;
  }

  mergeBase(one: string, other: string): string {
    const ids = new Set(this.#chain(one, noCommit)?.map(({ id }) => id));
    const found = this.#chain(other, noCommit)?.find(({ id }) => ids.has(id));
    return found?.id ?? this.#output([one, other], ['merge-base', one, other]).trim();
  }

  isAncestor(old: string, sha: string): boolean {
    if (this.#chain(sha, old)) return true;
    try {
      gitIn(this.folder, 'merge-base', '--is-ancestor', old, sha);
      return true;
    } catch {
      return false;
    }
  }

  /** The commits of a branch that another does not have, the oldest first; at most 250. */
  commits(from: string, to: string): PlayedCommit[] {
    const chain = this.#chain(to, from === noCommit ? from : (this.resolve(from) ?? from));
    if (chain) return chain.slice(0, 250).toReversed();
    const range = from === noCommit ? to : `${from}..${to}`;
    const list = this.#output([from, to], ['rev-list', '--reverse', '-n', '250', range]);
    return list.split('\n').flatMap((id) => this.commitAt(id) ?? []);
  }

  commitAt(name: string): PlayedCommit | undefined {
    const id = name === '' ? undefined : this.resolve(name);
    if (id === undefined) return undefined;
    const commit = this.#commits.get(id) ?? commitIn(this.#objects.read(id), id);
    this.#commits.set(id, commit);
    return commit;
  }

  /** From a commit back to another one or the first; undefined where that is not a single line. */
  #chain(to: string, from: string): PlayedCommit[] | undefined {
    const chain: PlayedCommit[] = [];
    for (let at = this.resolve(to); at !== from;) {
      const commit = at === undefined ? undefined : this.commitAt(at);
      if (!commit || commit.parents.length > 1) return undefined;
      chain.push(commit);
      at = commit.parents[0] ?? noCommit;
      if (at === noCommit && from !== noCommit) return undefined;
    }
    return chain;
  }

  /** The files that a change touches, with their letters: A, M, D. */
  files(from: string, to: string): { status: string; path: string }[] {
    const [before, after] = [this.#filesAt(from), this.#filesAt(to)];
    const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
    return paths.flatMap((path) => {
      const [old, now] = [before.get(path), after.get(path)];
      if (old?.id === now?.id && old?.mode === now?.mode) return [];
      return { status: old ? (now ? 'M' : 'D') : 'A', path };
    });
  }

  #filesAt(sha: string): TreeFiles {
    const commit = sha === noCommit ? undefined : this.commitAt(sha);
    return commit ? this.#objects.files(commit.tree) : new Map();
  }

  /** The hunks of one file, with so many lines around each change. */
  patch(from: string, to: string, path: string, context = 3): string {
    const args = ['diff', '--no-color', `-U${context}`, from, to, '--', path];
    const text = this.#output([from, to], args);
    return text.slice(Math.max(text.indexOf('\n@@') + 1, 0));
  }

  blob(sha: string, path: string): string | undefined {
    const file = this.#filesAt(sha).get(path);
    return file && this.#objects.read(file.id).toString();
  }

  /** The output of git for these commits; it is kept if all of them are named by their ids. */
  #output(commits: string[], args: string[], folder = this.folder): string {
    const key = [folder, ...args].join('\0');
    const known = this.#outputs.get(key);
    if (known !== undefined) return known;
    const output = gitIn(folder, ...args);
    if (commits.every((one) => idPattern.test(one))) this.#outputs.set(key, output);
    return output;
  }

  #objectsOf(folder: string): LooseObjects {
    return folder === this.folder ? this.#objects : new LooseObjects([folder, this.folder]);
  }

  #writeRef(folder: string, ref: string, sha: string): void {
    const file = join(folder, ref);
    const fresh = join(folder, 'new-ref');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(fresh, `${sha}\n`);
    renameSync(fresh, file);
  }

  #link(path: string): void {
    symlinkSync(join(this.server.folder, `${path}.git`), join(this.server.folder, path));
  }
}

const idPattern = /^[0-9a-f]{40}$/;

/** The id that a ref has; undefined if there is no such ref. */
function idOfRef(folder: string, ref: string): string | undefined {
  try {
    const content = readFileSync(join(folder, ref), 'utf8').trim();
    return idPattern.test(content) ? content : undefined;
  } catch {
    return undefined; // There is no such file, or it is a folder of refs.
  }
}

/** In the order in which git looks for a name. */
const idOfName = (folder: string, name: string): string | undefined =>
  (name.startsWith('refs/') ? [name] : [`refs/tags/${name}`, `refs/heads/${name}`])
    .map((ref) => idOfRef(folder, ref))
    .find((id) => id !== undefined);

function commitIn(content: Buffer, id: string): PlayedCommit {
  const text = content.toString();
  const end = text.indexOf('\n\n');
  const head = text.slice(0, end);
  const valuesOf = (name: string): string[] =>
    head
      .split('\n')
      .flatMap((line) => (line.startsWith(`${name} `) ? line.slice(name.length + 1) : []));
  const [, author = '', email = '', seconds = '', zone = ''] =
    /^(.*) <(.*)> (\d+) ([+-]\d{4})$/.exec(valuesOf('author')[0] ?? '') ?? [];
  return {
    id,
    parents: valuesOf('parent'),
    tree: valuesOf('tree')[0] ?? '',
    message: text.slice(end + 2).trimEnd(),
    author,
    email,
    at: localTime(Number(seconds), zone),
  };
}

/** In ISO 8601, with the zone, which is given as `+0130`. */
function localTime(seconds: number, zone: string): string {
  const [sign, hours, minutes] = [zone.slice(0, 1), zone.slice(1, 3), zone.slice(3)];
  const offset = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60;
  const local = new Date((seconds + offset) * 1_000).toISOString().slice(0, 19);
  return `${local}${sign}${hours}:${minutes}`;
}

/** These files with other ones at these paths; null takes one away, or a folder. */
function changed(
  files: TreeFiles,
  blobs: readonly (readonly [path: string, id: string | null])[],
): TreeFiles {
  const all = new Map(files);
  for (const [path, id] of blobs) {
    for (const other of all.keys())
      if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) all.delete(other);
    if (id === null) all.delete(path);
    else all.set(path, { mode: '100644', id });
  }
  return all;
}
