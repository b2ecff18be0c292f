import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isThere } from '../permissions.js';
import type { Git } from './git.js';
import { runInOwnRepository } from './own-repository.js';

/** A repository that programs of the sandbox wrote may make git print without end. */
const maxCharacters = 1024 * 1024;
const maxRefs = 2_000;
/** So many new commits are named. */
const maxCommits = 20;
const maxSubject = 200;

export interface OwnCommit {
  commit: string;
  subject: string;
}

/**
 * The commits that the workspace’s own repository got since the start. The history has their files, as far as they are
 * in the work tree, and not themselves. The repository is only read, as the user of the sandbox.
 */
export class OwnCommits {
  readonly #git: Git;
  /** The commits of the start, kept for a later agent. */
  readonly #startFile: string;
  /** What the references looked like when they were last asked for. */
  #references: string | undefined;

  constructor(git: Git) {
    this.#git = git;
    this.#startFile = join(git.places.folder, 'own-start');
  }

  /** Remembers the commits of the start. */
  async begin(): Promise<void> {
    this.#references = this.#readReferences();
    if (isThere(this.#startFile)) return;
    const refs = ['for-each-ref', `--count=${maxRefs}`, '--format=%(objectname)', 'refs/heads'];
    const head = ['rev-parse', '--verify', '--quiet', 'HEAD'];
    const commits = `${await this.#run(refs)}\n${await this.#run(head)}`.split('\n');
    writeFileSync(this.#startFile, commits.filter((line) => isCommit.test(line)).join('\n'));
  }

  /** Whether branches or index are others than when this was last asked. */
  changed(): boolean {
    const before = this.#references;
    this.#references = this.#readReferences();
    return this.#references !== before;
  }

  /** The latest commits on the branches that were not there at the start and came from no other repository. */
  async list(): Promise<OwnCommit[]> {
    if (!isThere(this.#startFile)) return [];
    const start = readFileSync(this.#startFile, 'latin1').split('\n').filter(Boolean);
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

  /** What git prints; nothing where there is no repository, or when it fails or takes too long. */
  async #run(command: string[], input = ''): Promise<string> {
    const { output, ok } = await runInOwnRepository(this.#git.places, command, {
      input,
      maxCharacters,
    });
    return ok ? output : '';
  }
}

const isCommit = /^[0-9a-f]{40,64}$/;
