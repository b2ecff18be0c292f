import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitServer } from '../git-server.js';
import { gitIn } from '../hostile-repository.js';

export const noCommit = '0'.repeat(40);

/** As on all three hosts, commits can be fetched by id, even those of forks. */
const settings = `[uploadPack]
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

/** The real git repositories behind a played host: bare ones, changed without a work tree. */
export class PlayedGit {
  readonly #commits = new Map<string, PlayedCommit>();
  /** The outputs of git for arguments that name commits by their ids, which never change. */
  readonly #outputs = new Map<string, string>();
  readonly folder: string;

  constructor(
    private readonly server: GitServer,
    readonly path: string,
  ) {
    this.folder = this.#create(path, settings);
  }

  /** Creates an empty repository that is found with and without `.git`. */
  #create(path: string, more = ''): string {
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
    gitIn(folder, 'fetch', '-q', this.folder, '+refs/heads/*:refs/heads/*');
    return folder;
  }

  /** Makes the commits of a fork known to the repository, as one storage for all forks does. */
  share(fork: string, id: number): void {
    gitIn(this.folder, 'fetch', '-q', fork, `+refs/heads/*:refs/network/${id}/*`);
  }

  /** The branches and tags with their commits. */
  refs(folder = this.folder): Map<string, string> {
    const format = '--format=%(refname) %(objectname)';
    const lines = gitIn(folder, 'for-each-ref', format, 'refs/heads', 'refs/tags');
    return new Map(
      lines
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' ') as [string, string]),
    );
  }

  /** The commit of a name or id, if there is one. */
  resolve(name: string, folder = this.folder): string | undefined {
    const args = ['rev-parse', '--verify', '-q', `${name}^{commit}`];
    try {
      return looseRef(name, folder) ?? this.#output([name], args, folder).trim();
    } catch {
      return undefined;
    }
  }

  setRef(ref: string, sha: string | null): void {
    gitIn(this.folder, 'update-ref', ...(sha === null ? ['-d', ref] : [ref, sha]));
  }

  commit({ ref, from, message, author, files, at }: NewCommit, folder = this.folder): string {
    const who = `${author} <${author.replaceAll(/[^\w.-]/g, '')}@example.com> ${Math.floor(at / 1000)} +0000`;
    const lines = [`commit ${ref}`, 'mark :1', `author ${who}`, `committer ${who}`, data(message)];
    if (from !== null) lines.push(`from ${from}`);
    for (const [path, content] of Object.entries(files))
      if (content === null) lines.push(`D ${JSON.stringify(path)}`);
      else lines.push(`M 100644 inline ${JSON.stringify(path)}`, data(content));
    const made = execFileSync('git', ['-C', folder, 'fast-import', '--quiet', '--force'], {
      input: `${lines.join('\n')}\n\nget-mark :1\ndone\n`,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    return made.toString().trim();
  }

  /** Merges a commit into a branch; returns the merge, or nothing if they conflict. */
  merge(branch: string, sha: string, message: string): string | undefined {
    const tip = gitIn(this.folder, 'rev-parse', `refs/heads/${branch}`).trim();
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
    return this.#output([one, other], ['merge-base', one, other]).trim();
  }

  isAncestor(old: string, sha: string): boolean {
    try {
      gitIn(this.folder, 'merge-base', '--is-ancestor', old, sha);
      return true;
    } catch {
      return false;
    }
  }

  /** The commits of a branch that another does not have, the oldest first; at most 250. */
  commits(from: string, to: string): PlayedCommit[] {
    return this.#log(from === noCommit ? [to] : [`${from}..${to}`]);
  }

  commitAt(sha: string): PlayedCommit | undefined {
    const known = this.#commits.get(sha);
    if (known) return known;
    const commit = this.resolve(sha) === undefined ? undefined : this.#log(['-1', sha])[0];
    // What has an id of its own never changes; a name may be moved.
    if (commit?.id === sha) this.#commits.set(sha, commit);
    return commit;
  }

  #log(range: string[]): PlayedCommit[] {
    const format = '--format=%H%x00%P%x00%T%x00%an%x00%ae%x00%aI%x00%B%x1e';
    const ids = range.flatMap((part) => part.split('..')).filter((part) => part !== '-1');
    const text = this.#output(ids, ['log', '--reverse', '-n', '250', format, ...range]);
    return text.split('\x1e').flatMap((entry) => {
      const [id = '', parents = '', tree = '', author = '', email = '', at = '', message = ''] =
        entry.trimStart().split('\0');
      if (id === '') return [];
      const names = parents.split(' ').filter(Boolean);
      return [{ id, parents: names, tree, author, email, at, message: message.trimEnd() }];
    });
  }

  /** The files that a change touches, with their letters: A, M, D. */
  files(from: string, to: string): { status: string; path: string }[] {
    const range = from === noCommit ? ['--root', to] : [from, to];
    const args = ['diff-tree', '-r', '-z', '--no-commit-id', '--name-status', ...range];
    const out = this.#output([from, to], args);
    const parts = out.split('\0').filter(Boolean);
    return parts.flatMap((status, index) =>
      index % 2 === 0 ? [{ status, path: parts[index + 1] ?? '' }] : [],
    );
  }

  /** The hunks of one file, with so many lines around each change. */
  patch(from: string, to: string, path: string, context = 3): string {
    const args = ['diff', '--no-color', `-U${context}`, from, to, '--', path];
    const text = this.#output([from, to], args);
    return text.slice(Math.max(text.indexOf('\n@@') + 1, 0));
  }

  blob(sha: string, path: string): string | undefined {
    try {
      return this.#output([sha], ['cat-file', 'blob', `${sha}:${path}`]);
    } catch {
      return undefined;
    }
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

  #link(path: string): void {
    symlinkSync(join(this.server.folder, `${path}.git`), join(this.server.folder, path));
  }
}

const idPattern = /^[0-9a-f]{40}$/;

/** The commit of a branch, read without a process as git has written it; undefined where git must be asked. */
function looseRef(name: string, folder: string): string | undefined {
  const short = name.replace(/^refs\/heads\//, '');
  if (!/^[\w-]+(\/[\w-]+)*$/.test(short) || idPattern.test(short)) return undefined;
  const file = join(folder, 'refs/heads', short);
  // Git prefers a tag of that name.
  const isTag = short === name && existsSync(join(folder, 'refs/tags', short));
  if (isTag || !existsSync(file)) return undefined;
  const content = readFileSync(file, 'utf8').trim();
  return idPattern.test(content) ? content : undefined;
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}`;
