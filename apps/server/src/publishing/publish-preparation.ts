import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError, type PreparedPublish } from '@belay/protocol';
import type { PrivateRepository } from '@belay/host';
import type { Caller } from '../access/caller.js';
import { Config } from '../config.js';
import { commitAuthor } from './commit-author.js';
import { isCiFile } from '../git/is-ci-file.js';
import { RepositoryFetcher } from '../git/repository-fetcher.js';
import type { AdvertisedRefs } from '../git/smart-http.js';
import { Exports } from '../sessions/exports.js';
import { pushedFiles, type PushedFile } from './pushed-files.js';
import { CommitBuilder } from './commit-builder.js';
import type { ResolvedTarget } from './publish-targets.js';
import { wholePatch } from './session-patch.js';

/** The content of a push, in a scratch repository that the receiver removes. */
export interface PreparedPush {
  shown: PreparedPublish;
  repository: PrivateRepository;
  tree: string;
}

/**
 * Makes the tree of a push from a session’s recorded changes, in a repository of its own. The sandbox contributes only
 * the patch, which is compared and listed here.
 */
@Injectable()
export class PublishPreparation {
  /** The largest repository that is fetched, and the largest push. */
  readonly maxBytes: number;

  constructor(
    config: Config,
    private readonly exports: Exports,
    private readonly fetcher: RepositoryFetcher,
  ) {
    this.maxBytes = config.maxWorkspaceMb * 2 ** 20;
  }

  /** Compares the recorded changes with the branch. Sends nothing. Throws one sentence. */
  async prepare(
    session: string,
    resolved: ResolvedTarget,
    { caller, signal }: { caller: Caller; signal: AbortSignal },
  ): Promise<PreparedPush> {
    const { remote, host, into, base, branch, refs, start, before, pushed } = resolved;
    const patch = await this.#patchOf(session);
    const { repository, commit, ...fetched } = await this.fetcher.fetch(
      {
        remote,
        object: start,
        also: [before, before && pushed].filter((one) => one !== undefined),
        capabilities: refs.capabilities,
        tips: [...refs.refs.values()],
      },
      { maxBytes: this.maxBytes, depth: 1, signal },
    );
    try {
      const builder = new CommitBuilder(repository, signal);
      const mine = await builder.apply(commit, patch);
      const parent = before ?? commit;
      const earlier = (before && pushed) ?? commit;
      const onto = parent === commit ? fetched.tree : await builder.treeOf(parent);
      const from = earlier === parent ? onto : await builder.treeOf(earlier);
      const tree = from === onto ? mine : await builder.rebase({ from, to: mine, onto: parent });
      const files = await pushedFiles(repository, { from: onto, to: tree, signal });
      if (files.length === 0) throw nothingToDo(branch, before !== undefined);
      const { url } = remote.address;
      const shown: PreparedPublish = {
        id: idOf([url, into, base, branch, parent, tree]),
        url,
        host: host.host,
        kind: host.kind,
        base,
        branch,
        defaultBranch: refs.head ?? null,
        isNewBranch: before === undefined,
        parent,
        files,
        refusals: refusalsOf(files, { branch, refs }),
        pullRequests:
          host.kind !== 'other' &&
          remote.credential !== undefined &&
          (branch !== base || into !== url),
        author: await commitAuthor(resolved.settings, caller),
        sessionPage: resolved.sessionPage,
        into,
      };
      return { shown, repository, tree };
    } catch (error) {
      await repository.remove();
      throw error;
    }
  }

  async #patchOf(session: string): Promise<Buffer> {
    return wholePatch(await this.exports.open(session, { format: 'patch' }, { wake: true }));
  }
}

const idOf = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');

function refusalsOf(
  files: readonly PushedFile[],
  { branch, refs }: { branch: string; refs: AdvertisedRefs },
): PreparedPublish['refusals'] {
  const refusals: PreparedPublish['refusals'] = [];
  if (branch === refs.head)
    refusals.push({
      needs: 'default-branch',
      message: `${branch} is the default branch: it is not pushed to unless you allow it.`,
    });
  const ci = files.flatMap(({ path, from }) => [path, ...(from ? [from] : [])]).filter(isCiFile);
  if (ci.length > 0)
    refusals.push({
      needs: 'ci-files',
      message: `${ci.slice(0, 3).join(', ')}${ci.length > 3 ? ` and ${ci.length - 3} more` : ''} would run on the git host with its secrets: look at it, then allow it.`,
    });
  return refusals;
}

const nothingToDo = (branch: string, isThere: boolean): AppError =>
  new AppError(
    'conflict',
    isThere
      ? `The branch ${branch} already has these changes. There is nothing to publish.`
      : 'The session has not changed any files. There is nothing to publish.',
    { isUnchanged: true },
  );

/** Whether nothing was published because nothing was changed. */
export const isUnchanged = (error: unknown): boolean =>
  error instanceof AppError && error.details?.['isUnchanged'] === true;
