import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isThere } from '../permissions.js';
import type { Git } from './git.js';
import { runInOwnRepository } from './own-repository.js';

/** The output limit, because a repository written by the sandbox’s programs may make git print endlessly. */
const maxCharacters = 1024 * 1024;
const maxRefs = 2_000;
/** The number of new commits that are listed. */
const maxCommits = 20;
const maxSubject = 200;

export interface OwnCommit {
  commit: string;
  subject: string;
}

/**
 * Finds commits made in the workspace’s own repository since the start. The history contains their files, as far as
 * they are in the work tree, but not the commits. The repository is only read, as the sandbox’s user.
 */
export class OwnCommits {
  readonly #git: Git;
  /** The commits at the start, stored for a later agent. */
  readonly #startFile: string;
  /** The state of the references at the last query. */
  #references: string | undefined;

  constructor(git: Git) {
    this.#git = git;
    this.#startFile = join(git.places.folder, 'own-start');
  }

  /** Stores the commits of the start. */
  async begin(): Promise<void> {
    this.#references = this.#readReferences();
    if (isThere(this.#startFile)) return;
    const refs = ['for-each-ref', `--count=${maxRefs}`, '--format=%(objectname)', 'refs/heads'];
    const head = ['rev-parse', '--verify', '--quiet', 'HEAD'];
    const commits = `${await this.#run(refs)}\n${await this.#run(head)}`.split('\n');
    writeFileSync(this.#startFile, commits.filter((line) => isCommit.test(line)).join('\n'));
  }

  /** The commits of the start as they are stored; undefined before `begin`. */
  get start(): string | undefined {
    return isThere(this.#startFile) ? readFileSync(this.#startFile, 'latin1') : undefined;
  }

  /** Stores the commits of the start of the session, before `begin`: it began elsewhere. */
  set start(commits: string) {
    writeFileSync(this.#startFile, commits, 'latin1');
  }

  /** Whether branches or the index changed since the last call. */
  changed(): boolean {
    const before = this.#references;
    this.#references = this.#readReferences();
    return this.#references !== before;
  }

  /** The latest commits on branches that were made since the start and do not come from another repository. */
  async list(): Promise<OwnCommit[]> {
    if (this.start === undefined) return [];
    const start = this.start.split('\n').filter(Boolean);
    const limits = ['--ignore-missing', `--max-count=${maxCommits}`, '--format=%H %s'];
    const which = ['HEAD', '--branches', '--stdin', '--not', '--remotes'];
    const input = start.map((commit) => `^${commit}\n`).join('');
    const output = await this.#run(['rev-list', ...limits, ...which], input);
    return output.split('\n').flatMap((line) => {
      const at = line.indexOf(' ');
      const commit = line.slice(0, at);
      return isCommit.test(commit)
        ? [{ commit, subject: line.slice(at + 1, at + maxSubject) }]
        : [];
    });
  }

  get #folder(): string {
    return join(this.#git.places.workspace, '.git');
  }

  #readReferences(): string {
    return ['HEAD', 'logs/HEAD', 'refs/heads', 'packed-refs', 'index']
      .map((name) => lstatSync(join(this.#folder, name), { throwIfNoEntry: false }))
      .map((stats) => (stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : ''))
      .join(', ');
  }

  /** Git’s output; empty without a repository, and when git fails or takes too long. */
  async #run(command: string[], input = ''): Promise<string> {
    const { output, ok } = await runInOwnRepository(this.#git.places, command, {
      input,
      maxCharacters,
    });
    return ok ? output : '';
  }
}

const isCommit = /^[0-9a-f]{40,64}$/;
