import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { Config } from '../../config.js';
import { GitHosts } from '../../git/git-hosts.js';
import { RepositoryFetcher } from '../../git/repository-fetcher.js';
import { EventLog } from '../../logs/event-log.js';
import type { RunRecord } from '../run-record.js';
import { linesOfPatch, type ChangeLine } from './lines-of-patch.js';

const timeoutMs = 5 * 60_000;
const maxPatchBytes = 32 * 2 ** 20;
/** Enough history for most pull requests, then all of it. */
const depths = [50, undefined] as const;

/** The lines that a pull request shows, as the server compares them in a repository of its own. */
@Injectable()
export class PullLines {
  constructor(
    private readonly config: Config,
    private readonly hosts: GitHosts,
    private readonly fetcher: RepositoryFetcher,
    private readonly log: EventLog,
  ) {}

  /** None where the change cannot be compared. Throws what may pass: the host does not answer, the disk is full. */
  async of(run: RunRecord): Promise<(line: ChangeLine) => boolean> {
    const { sha, base } = run.findings;
    const url = run.session && (await this.log.settings(run.session)).repository?.url;
    if (!url || sha === null || base === null) return () => false;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      for (const depth of depths) {
        const patch = await this.#patch({ url, sha, base, depth }, signal);
        if (patch !== null) return linesOfPatch(patch);
      }
    } catch (error) {
      if (!(error instanceof AppError) || !lasting.has(error.code)) throw error;
    }
    return () => false;
  }

  /** Null if the history is too short to find where the branch began. */
  async #patch(
    {
      url,
      sha,
      base,
      depth,
    }: { url: string; sha: string; base: string; depth: number | undefined },
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
