import { Injectable } from '@nestjs/common';
import {
  AppError,
  newEvent,
  sessionLink,
  type PreparedPublish,
  type publishRequest,
  type publishTarget,
  type PublishedChange,
} from '@belay/protocol';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import { Config } from '../config.js';
import { GitHosts, hostOf } from '../git/git-hosts.js';
import { RepositoryPusher } from '../git/repository-pusher.js';
import { EventLog } from '../logs/event-log.js';
import { CommitBuilder } from './commit-builder.js';
import { branchPage, GitHostApi } from './git-host-api.js';
import { PublishPreparation, type PreparedPush } from './publish-preparation.js';

type Target = z.output<typeof publishTarget>;
type Request = z.output<typeof publishRequest>;

const prepareTimeoutMs = 5 * 60_000;

/**
 * Publishes a session’s changes to a git host: the server makes one commit of the recorded changes, in a repository of
 * its own, and pushes it. The sandbox contributes only the patch.
 */
@Injectable()
export class PublishingService {
  readonly #maxBytes: number;

  constructor(
    config: Config,
    private readonly log: EventLog,
    private readonly hosts: GitHosts,
    private readonly preparation: PublishPreparation,
    private readonly pusher: RepositoryPusher,
    private readonly api: GitHostApi,
  ) {
    this.#maxBytes = config.maxWorkspaceMb * 2 ** 20;
  }

  /** The content and target of a push. Sends nothing. Throws one sentence. */
  async prepare(session: string, target: Target, caller: Caller): Promise<PreparedPublish> {
    const signal = AbortSignal.timeout(prepareTimeoutMs);
    const { shown, repository } = await this.preparation.prepare(session, {
      target,
      caller,
      signal,
    });
    await repository.remove();
    return shown;
  }

  /** Pushes exactly what was prepared. Throws `conflict` when it has changed since; nothing is ever forced. */
  async publish(session: string, request: Request, caller: Caller): Promise<PublishedChange> {
    const signal = AbortSignal.timeout(2 * prepareTimeoutMs);
    const prepared = await this.preparation.prepare(session, { target: request, caller, signal });
    const { shown, repository, remote, tree, before } = prepared;
    try {
      if (shown.id !== request.id)
        throw new AppError(
          'conflict',
          'The changes or the branch have changed since you reviewed them. Review them again.',
        );
      const [refusal] = shown.refusals.filter(({ needs }) => !request.allow.includes(needs));
      if (refusal) throw new AppError('forbidden', refusal.message);
      const { branch, parent } = shown;
      const commit = await new CommitBuilder(repository, signal).commit({
        tree,
        parent,
        message: request.message,
        author: request.author ?? shown.author,
      });
      const push = { repository, commit, branch, before, parent, maxBytes: this.#maxBytes, signal };
      await this.pusher.push(remote, push);
      return await this.#afterPush(session, { request, prepared, commit, signal });
    } finally {
      await repository.remove();
    }
  }

  /** The push succeeded, so later failures are reported in addition to it. */
  async #afterPush(
    session: string,
    {
      request: { pullRequest: wanted },
      prepared: { shown, remote },
      commit,
      signal,
    }: { request: Request; prepared: PreparedPush; commit: string; signal: AbortSignal },
  ): Promise<PublishedChange> {
    const { url, into, branch, base, sessionPage } = shown;
    const hosted = { remote, host: this.hosts.describe(hostOf(remote.address)), signal };
    let pullRequest: PublishedChange['pullRequest'] = null;
    let problem: string | null = null;
    if (wanted) {
      try {
        const body = withLink(wanted.body, sessionPage);
        const request = { ...wanted, body, branch, base, into };
        pullRequest = await this.api.openPullRequest(hosted, request);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        problem = error.message;
      }
    }
    const link = pullRequest ? ` Pull request: ${pullRequest.url}` : '';
    const event = newEvent('user', 'publish', {
      args: { url, branch, base, commit, pullRequest: pullRequest && { ...pullRequest, into } },
      message: `Pushed ${commit.slice(0, 7)} to the branch ${branch} of ${url}.${link}`,
    });
    await this.log.append(session, [event]);
    return { url, branch, commit, branchPage: branchPage(hosted, branch), pullRequest, problem };
  }
}

/** A reviewer finds the conversation, unless the text already names it. */
function withLink(body: string, page: string | null): string {
  if (page === null || body.includes(page)) return body;
  return [body.trimEnd(), sessionLink(page)].filter(Boolean).join('\n\n');
}
