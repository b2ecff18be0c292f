import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  AppError,
  isEvent,
  type PreparedPublish,
  type publishTarget,
  type SessionSettings,
} from '@belay/protocol';
import type { PrivateRepository } from '@belay/host';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import { Config } from '../config.js';
import { commitAuthor } from './commit-author.js';
import { GitHosts, hostOf } from '../git/git-hosts.js';
import { RepositoryFetcher } from '../git/repository-fetcher.js';
import { SmartHttp, type AdvertisedRefs, type GitRemote } from '../git/smart-http.js';
import { EventLog } from '../logs/event-log.js';
import { Exports } from '../sessions/exports.js';
import { pushedFiles, isCiFile, type PushedFile } from './pushed-files.js';
import { CommitBuilder } from './commit-builder.js';
import { wholePatch } from './session-patch.js';

type Target = z.output<typeof publishTarget>;

/** The content of a push, in a scratch repository that the receiver removes. */
export interface PreparedPush {
  shown: PreparedPublish;
  repository: PrivateRepository;
  remote: GitRemote;
  tree: string;
  /** The branch’s current commit; undefined for a new branch. */
  before: string | undefined;
}

/** A target after the host was asked. */
interface ResolvedTarget {
  remote: GitRemote;
  /** The target repository of a pull request. */
  into: string;
  base: string;
  refs: AdvertisedRefs;
  /** The commit that the session’s changes are based on. */
  start: string;
  before: string | undefined;
  /** The commit that this session last pushed to the branch. */
  pushed: string | undefined;
}

/**
 * Makes the tree of a push from a session’s recorded changes, in a repository of its own. The sandbox contributes only
 * the patch, which is compared and listed here.
 */
@Injectable()
export class PublishPreparation {
  readonly #maxBytes: number;
  readonly #publicUrl: string | undefined;

  constructor(
    config: Config,
    private readonly log: EventLog,
    private readonly exports: Exports,
    private readonly hosts: GitHosts,
    private readonly smart: SmartHttp,
    private readonly fetcher: RepositoryFetcher,
  ) {
    this.#maxBytes = config.maxWorkspaceMb * 2 ** 20;
    this.#publicUrl = config.publicUrl;
  }

  /** Compares the recorded changes with the branch. Sends nothing. Throws one sentence. */
  async prepare(
    session: string,
    { target, caller, signal }: { target: Target; caller: Caller; signal: AbortSignal },
  ): Promise<PreparedPush> {
    const settings = await this.log.settings(session);
    const resolved = await this.#resolve(session, { target, settings, caller, signal });
    const { remote, into, base, refs, start, before, pushed } = resolved;
    const patch = await this.#patchOf(session);
    const { repository, commit } = await this.fetcher.fetch(
      {
        remote,
        object: start,
        also: [before, before && pushed].filter((one) => one !== undefined),
        capabilities: refs.capabilities,
        tips: [...refs.refs.values()],
      },
      { maxBytes: this.#maxBytes, depth: 1, signal },
    );
    try {
      const builder = new CommitBuilder(repository, signal);
      const mine = await builder.apply(commit, patch);
      const parent = before ?? commit;
      const from = await builder.treeOf((before && pushed) ?? commit);
      const onto = await builder.treeOf(parent);
      const tree = from === onto ? mine : await builder.rebase({ from, to: mine, onto: parent });
      const files = await pushedFiles(repository, { from: onto, to: tree, signal });
      if (files.length === 0) throw nothingToDo(target.branch, before !== undefined);
      const { url } = remote.address;
      const host = this.hosts.describe(hostOf(remote.address));
      const { branch } = target;
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
        author: await commitAuthor(settings, caller),
        sessionPage: this.#publicUrl ? `${this.#publicUrl}/sessions/${session}` : null,
        into,
      };
      return { shown, repository, remote, tree, before };
    } catch (error) {
      await repository.remove();
      throw error;
    }
  }

  async #resolve(
    session: string,
    {
      target,
      settings: { repository: own },
      caller,
      signal,
    }: { target: Target; settings: SessionSettings; caller: Caller; signal: AbortSignal },
  ): Promise<ResolvedTarget> {
    const url = target.url ?? own?.url;
    if (url === undefined)
      throw new AppError(
        'invalid_input',
        'This session was not cloned from a repository. Give the address of the one to publish to.',
      );
    const given = this.hosts.remote(url, caller.scope);
    const refs = await this.smart.refs(given, 'git-upload-pack', signal);
    const { remote } = refs;
    const cloned = own && clonedFrom(own, refs);
    const base = target.base ?? cloned?.branch ?? refs.head;
    if (base === undefined)
      throw new AppError('invalid_input', 'Name the branch to start from as `base`.');
    const tip = refs.refs.get(`refs/heads/${base}`);
    if (tip === undefined)
      throw new AppError('not_found', `${remote.address.url} has no branch ${base}.`);
    return {
      remote,
      into: cloned?.url ?? remote.address.url,
      base,
      refs,
      start: cloned?.commit ?? tip,
      before: refs.refs.get(`refs/heads/${target.branch}`),
      pushed: await this.#lastPush(session, remote.address.url, target.branch),
    };
  }

  async #lastPush(session: string, url: string, branch: string): Promise<string | undefined> {
    const events = await this.log.read(session, { after: 0 });
    const pushes = events.flatMap((event) => (isEvent(event, 'publish') ? [event.args] : []));
    return pushes.findLast((one) => one.url === url && one.branch === branch)?.commit;
  }

  async #patchOf(session: string): Promise<Buffer> {
    return wholePatch(await this.exports.open(session, { format: 'patch' }, { wake: true }));
  }
}

/** The session’s cloned repository, as far as it matters for a push to this remote. */
function clonedFrom(
  { url, branch, commit }: NonNullable<SessionSettings['repository']>,
  { refs, remote }: AdvertisedRefs,
): { url: string; branch?: string | null; commit?: string } | undefined {
  if (url === remote.address.url) return { url, branch, commit };
  // Another repository on the same host is a fork of the cloned one, or the host refuses the request.
  if (new URL(url).origin !== remote.address.origin) return undefined;
  return refs.has(`refs/heads/${branch}`) ? { url, branch } : { url };
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
  );
