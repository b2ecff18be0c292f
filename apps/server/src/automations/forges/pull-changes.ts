import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { Config } from '../../config.js';
import { GitHosts } from '../../git/git-hosts.js';
import { RepositoryFetcher } from '../../git/repository-fetcher.js';

/** The change of a pull request: a commit, compared with where its branch left the base. */
export interface PullChange {
  /** Of the repository that it is for, which also has the commits of forks. */
  url: string;
  sha: string;
  /** The name of a branch. */
  base: string;
}

const timeoutMs = 5 * 60_000;
const maxPatchBytes = 32 * 2 ** 20;
/** Enough history for most pull requests, then all of it. */
const depths = [50, undefined] as const;

/** Compares what pull requests change, in a repository of its own: no host is asked for more than git objects. */
@Injectable()
export class PullChanges {
  constructor(
    private readonly config: Config,
    private readonly hosts: GitHosts,
    private readonly fetcher: RepositoryFetcher,
  ) {}

  /** A patch, or null where none can be made. Throws what may pass: the host does not answer, the disk is full. */
  async patchOf(change: PullChange): Promise<string | null> {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      for (const depth of depths) {
        const patch = await this.#patch(change, depth, signal);
        if (patch !== null) return patch;
      }
    } catch (error) {
      if (!(error instanceof AppError) || !lasting.has(error.code)) throw error;
    }
    return null;
  }

  /** Null if the history is too short to find where the branch began. */
  async #patch(
    { url, sha, base }: PullChange,
    depth: number | undefined,
    signal: AbortSignal,
  ): Promise<string | null> {
    const remote = this.hosts.remote(url, 'operate');
    const found = await this.fetcher.find(remote, { ref: base }, signal);
    const { repository, commit } = await this.fetcher.fetch(
      { ...found, also: [sha] },
      { maxBytes: this.config.maxWorkspaceMb * 2 ** 20, depth, signal },
    );
    try {
      const forked = await repository.run(['merge-base', commit, sha], { signal });
      const from = forked.output.toString().trim();
      if (forked.code !== 0 || !/^[0-9a-f]{40}$/.test(from)) return null;
      const options = ['--no-color', '--no-renames', '--no-ext-diff', '--no-textconv'];
      const { output } = await repository.run(['diff-tree', '-r', '-p', ...options, from, sha], {
        maxBytes: maxPatchBytes,
        signal,
      });
      return output.toString();
    } finally {
      await repository.remove();
    }
  }
}

const lasting: ReadonlySet<string> = new Set([
  'not_found',
  'too_large',
  'invalid_input',
  'forbidden',
]);
