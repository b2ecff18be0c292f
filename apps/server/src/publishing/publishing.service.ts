import { Injectable } from '@nestjs/common';
import {
  AppError,
  sessionLink,
  type PlannedPush,
  type PreparedPublish,
  type publishRequest,
  type publishTarget,
  type PublishedChange,
  type RerunReport,
  type StatedAutomation,
} from '@belay/protocol';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import { RepositoryPusher } from '../git/repository-pusher.js';
import { KeyedMutex } from '../storage/keyed-mutex.js';
import { branchPage, GitHostApi } from './git-host-api.js';
import { withProofBlock } from './proof-block.js';
import { ProvenCommits, type RerunTerms } from './proven-commits.js';
import { PublishPreparation, type PreparedPush } from './publish-preparation.js';
import { PublishTargets, type ResolvedTarget } from './publish-targets.js';
import { SessionPushes } from './session-pushes.js';

type Target = z.output<typeof publishTarget>;
type Request = z.output<typeof publishRequest>;

interface AfterPush {
  resolved: ResolvedTarget;
  request: Request;
  signal: AbortSignal;
}

const prepareTimeoutMs = 5 * 60_000;

/** What a part of the server asks of its own push, beyond what its request says. */
export interface PublishTerms {
  reruns: RerunTerms | undefined;
  /** What the statement says of the run that publishes. */
  automation: StatedAutomation;
  /** Looks at what would be pushed, before anything is made of it. What it throws ends the request. */
  inspect(prepared: PreparedPush, signal: AbortSignal): Promise<void>;
  /** Decides by what was found by running tests again, before the push. What it throws ends the request. */
  accept(reruns: RerunReport | null): void;
}

/**
 * Publishes a session’s changes to a git host: the server makes one commit of the recorded changes, in a repository of
 * its own, and pushes it. The sandbox contributes only the patch.
 */
@Injectable()
export class PublishingService {
  /** One push of a session at a time: the outcome of each is recorded before the next one looks. */
  readonly #pushing = new KeyedMutex();

  constructor(
    private readonly targets: PublishTargets,
    private readonly preparation: PublishPreparation,
    private readonly commits: ProvenCommits,
    private readonly pushes: SessionPushes,
    private readonly pusher: RepositoryPusher,
    private readonly api: GitHostApi,
  ) {}

  /** The content and target of a push. Sends nothing. Throws one sentence. */
  async prepare(session: string, target: Target, caller: Caller): Promise<PreparedPublish> {
    const signal = AbortSignal.timeout(prepareTimeoutMs);
    const resolved = await this.targets.resolve(session, { target, caller, signal });
    const { planned, isThere } = resolved;
    if (planned && isThere) await this.#pushing.run(session, () => this.#record(session, planned));
    const prepared = await this.preparation.prepare(session, resolved, { caller, signal });
    await prepared.repository.remove();
    return prepared.shown;
  }

  /**
   * Pushes exactly what was prepared. Throws `conflict` when it has changed since; nothing is ever forced. What a server
   * pushed that was killed before it recorded it is only recorded. With terms, a push that has arrived is not an error.
   */
  publish(
    session: string,
    request: Request,
    caller: Caller,
    terms?: PublishTerms,
  ): Promise<PublishedChange> {
    return this.#pushing.run(session, () => this.#publish(session, request, { caller, terms }));
  }

  async #publish(
    session: string,
    request: Request,
    { caller, terms }: { caller: Caller; terms: PublishTerms | undefined },
  ): Promise<PublishedChange> {
    const rerunsMs = (terms?.reruns?.totalSeconds ?? 0) * 1_000;
    const signal = AbortSignal.timeout(2 * prepareTimeoutMs + rerunsMs);
    const resolved = await this.targets.resolve(session, { target: request, caller, signal });
    const { planned, isThere, latest, before } = resolved;
    const after = { resolved, request, signal };
    if (terms && latest?.id === request.id && latest.commit === before)
      return this.#afterPush(session, latest, after);
    if (planned && isThere) {
      if (planned.id === request.id) return this.#afterPush(session, planned, after);
      await this.#record(session, planned);
    }
    const prepared = await this.preparation.prepare(session, resolved, { caller, signal });
    try {
      assertAllowed(prepared.shown, request);
      const push = await this.#commit(session, prepared, { terms, ...after });
      return await this.#afterPush(session, push, after);
    } finally {
      await prepared.repository.remove();
    }
  }

  /** Makes the commit and pushes it. It is the same one as before if it was made, and not pushed. */
  async #commit(
    session: string,
    prepared: PreparedPush,
    { terms, request, resolved, signal }: AfterPush & { terms: PublishTerms | undefined },
  ): Promise<PlannedPush> {
    const { shown, repository } = prepared;
    const { planned, remote, before, start } = resolved;
    await terms?.inspect(prepared, signal);
    const { id, url, into, branch, base, parent } = shown;
    const again = planned?.id === id ? planned : undefined;
    const date = again?.date ?? new Date().toISOString();
    const { reproduction, message, author = shown.author } = request;
    const commit = await this.commits.make(session, prepared, {
      start,
      reproduction,
      message,
      author,
      date,
      planned: again,
      terms: terms?.reruns,
      automation: terms?.automation,
      signal,
    });
    terms?.accept(await this.commits.rerunsOf(session, commit));
    const push = { id, url, into, branch, base, commit, date };
    if (planned?.commit !== commit) await this.pushes.plan(session, push);
    const { maxBytes } = this.preparation;
    await this.pusher.push(remote, {
      repository,
      commit,
      branch,
      before,
      parent,
      maxBytes,
      signal,
    });
    return push;
  }

  /** The push succeeded, so later failures are reported in addition to it. */
  async #afterPush(
    session: string,
    push: PlannedPush,
    {
      resolved: { remote, host, sessionPage },
      request: { pullRequest: wanted },
      signal,
    }: AfterPush,
  ): Promise<PublishedChange> {
    const { url, into, branch, base, commit } = push;
    const hosted = { remote, host, signal };
    let pullRequest: PublishedChange['pullRequest'] = null;
    let problem: string | null = null;
    if (wanted) {
      try {
        const linked = withLink(wanted.body, sessionPage);
        const body = withProofBlock(linked, await this.commits.statementOf(session, commit));
        const request = { ...wanted, body, branch, base, into };
        pullRequest = await this.api.openPullRequest(hosted, request);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        problem = error.message;
      }
    }
    const reruns = await this.#record(session, push, pullRequest);
    const page = branchPage(hosted, branch);
    return { url, branch, commit, branchPage: page, pullRequest, problem, reruns };
  }

  /** Returns what was found by running tests again before the push. */
  async #record(
    session: string,
    push: PlannedPush,
    opened: PublishedChange['pullRequest'] = null,
  ): Promise<RerunReport | null> {
    const reruns = await this.commits.rerunsOf(session, push.commit);
    await this.pushes.record(session, push, { opened, reruns });
    return reruns;
  }
}

/** Throws `conflict` for another change than the one that was prepared, and `forbidden` for one that is not allowed. */
function assertAllowed({ id, refusals }: PreparedPublish, request: Request): void {
  if (id !== request.id)
    throw new AppError(
      'conflict',
      'The changes or the branch have changed since you reviewed them. Review them again.',
    );
  const [refusal] = refusals.filter(({ needs }) => !request.allow.includes(needs));
  if (refusal) throw new AppError('forbidden', refusal.message);
}

/** A reviewer finds the conversation, unless the text already names it. */
function withLink(body: string, page: string | null): string {
  if (page === null || body.includes(page)) return body;
  return [body.trimEnd(), sessionLink(page)].filter(Boolean).join('\n\n');
}
