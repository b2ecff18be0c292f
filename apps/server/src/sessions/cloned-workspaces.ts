import { Injectable } from '@nestjs/common';
import {
  AppError,
  clonedRepository,
  ignoreError,
  includesScope,
  type ClonedRepository,
  type newRepository,
} from '@belay/protocol';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import { Config } from '../config.js';
import { GitHosts } from '../git/git-hosts.js';
import { RepositoryFetcher } from '../git/repository-fetcher.js';
import { repositoryTar } from '../git/repository-tar.js';
import { listTree } from '../git/write-tree.js';
import type { TarSource } from '../sandboxes/connection/agent-calls.js';
import { StartStatus } from './start-status.js';

const findTimeoutMs = 30_000;
const cloneTimeoutMs = 20 * 60_000;
/** Time between two events that report a clone’s progress. */
const progressEveryMs = 2_000;
/** The same limit as for an imported workspace. */
const maxEntries = 1_000_000;

/** Workspaces cloned from git hosts. The server clones them, so that no sandbox needs a token. */
@Injectable()
export class ClonedWorkspaces {
  readonly #maxBytes: number;
  readonly #running = new Map<string, AbortController>();

  constructor(
    config: Config,
    private readonly hosts: GitHosts,
    private readonly fetcher: RepositoryFetcher,
    private readonly status: StartStatus,
  ) {
    this.#maxBytes = config.maxWorkspaceMb * 2 ** 20;
  }

  /**
   * Resolves the repository to its current commit, and clones nothing. Throws a one-sentence error, so that a session
   * whose clone would fail is never created.
   */
  async find(
    { url, branch, commit, depth }: z.output<typeof newRepository>,
    { scope }: Caller,
  ): Promise<ClonedRepository> {
    const remote = this.hosts.remote(url, scope);
    const signal = AbortSignal.timeout(findTimeoutMs);
    const found = await this.fetcher.find(remote, { ref: branch, commit }, signal);
    const { data } = clonedRepository.safeParse({
      url: found.remote.address.url,
      branch: found.branch,
      commit: found.object,
      scope: includesScope(scope, 'admin') ? 'admin' : 'operate',
      depth,
    });
    if (data) return data;
    throw new AppError(
      'invalid_input',
      'The name of the default branch cannot be used. Name another branch.',
    );
  }

  /**
   * The working copy as an archive. Rejects with a one-sentence error; nothing is left on disk once the archive is
   * closed.
   */
  async open(session: string, cloned: ClonedRepository): Promise<TarSource> {
    const controller = new AbortController();
    this.#running.set(session, controller);
    const { signal } = controller;
    const timer = setTimeout(() => controller.abort(tooSlow()), cloneTimeoutMs);
    const finish = (): void => {
      clearTimeout(timer);
      if (this.#running.get(session) === controller) this.#running.delete(session);
    };
    try {
      const { repository, commit } = await this.#fetch(session, cloned, signal);
      try {
        const limits = { entries: maxEntries, bytes: this.#maxBytes };
        await listTree(repository, { commit, limits });
        const { url, branch } = cloned;
        const tar = repositoryTar(repository, { commit, branch, url });
        const stop = (): void => void tar.destroy(signal.reason as AppError);
        signal.addEventListener('abort', stop);
        tar.once('close', () => {
          signal.removeEventListener('abort', stop);
          finish();
          void repository.remove();
        });
        tar.on('error', () => tar.destroy());
        if (signal.aborted) stop();
        return { tar };
      } catch (error) {
        await repository.remove();
        throw error;
      }
    } catch (error) {
      finish();
      throw error;
    }
  }

  /** Cancels a clone in progress. */
  end(session: string): void {
    this.#running.get(session)?.abort(notNeeded());
  }

  async #fetch(session: string, cloned: ClonedRepository, signal: AbortSignal) {
    const { url, branch, depth, commit, scope } = cloned;
    const remote = this.hosts.remote(url, scope);
    const found = await this.fetcher.find(remote, { commit }, signal);
    let told = 0;
    const tell = (progress: string): void => {
      const now = performance.now();
      if (told !== 0 && now - told < progressEveryMs) return;
      told = now;
      const reason = `Cloning ${url}${branch === null ? '' : ` (${branch})`}: ${progress}.`;
      void this.status
        .report(session, 'starting', reason)
        .catch(ignoreError('neither a full log nor a deleted session stops a clone'));
    };
    tell('asking the server');
    return this.fetcher.fetch(found, {
      maxBytes: this.#maxBytes,
      depth,
      signal,
      onProgress: tell,
    });
  }
}

const tooSlow = (): AppError =>
  new AppError(
    'timeout',
    `The clone took longer than ${cloneTimeoutMs / 60_000} minutes. Begin with less history (depth).`,
  );

const notNeeded = (): AppError =>
  new AppError('conflict', 'The session was stopped before its repository was cloned.');
