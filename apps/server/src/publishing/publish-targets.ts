import { Injectable } from '@nestjs/common';
import {
  AppError,
  type GitHost,
  type PlannedPush,
  type publishTarget,
  type SessionSettings,
} from '@belay/protocol';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import { Config } from '../config.js';
import { GitHosts, hostOf } from '../git/git-hosts.js';
import { SmartHttp, type AdvertisedRefs, type GitRemote } from '../git/smart-http.js';
import { EventLog } from '../logs/event-log.js';
import { SessionPushes } from './session-pushes.js';

/** A target after the host was asked. */
export interface ResolvedTarget {
  settings: SessionSettings;
  remote: GitRemote;
  host: GitHost;
  /** The target repository of a pull request. */
  into: string;
  base: string;
  branch: string;
  refs: AdvertisedRefs;
  /** The commit that the session’s changes are based on. */
  start: string;
  /** The branch’s current commit; undefined for a new branch. */
  before: string | undefined;
  /** The commit that this session last pushed to the branch. */
  pushed: string | undefined;
  /** A push to the branch whose outcome was not recorded. */
  planned: PlannedPush | undefined;
  /** Whether the branch is at the planned commit, so that it only has to be recorded. */
  isThere: boolean;
  /** The last push to the branch, recorded or not. */
  latest: PlannedPush | undefined;
  /** The address of the session; null without a public one. */
  sessionPage: string | null;
}

/** Resolves the targets of sessions’ changes. */
@Injectable()
export class PublishTargets {
  readonly #publicUrl: string | undefined;

  constructor(
    config: Config,
    private readonly log: EventLog,
    private readonly hosts: GitHosts,
    private readonly smart: SmartHttp,
    private readonly pushes: SessionPushes,
  ) {
    this.#publicUrl = config.publicUrl;
  }

  /** Asks the host. Throws one sentence. */
  async resolve(
    session: string,
    {
      target,
      caller,
      signal,
    }: { target: z.output<typeof publishTarget>; caller: Caller; signal: AbortSignal },
  ): Promise<ResolvedTarget> {
    const settings = await this.log.settings(session);
    const { repository: own } = settings;
    const wanted = target.url ?? own?.url;
    if (wanted === undefined)
      throw new AppError(
        'invalid_input',
        'This session was not cloned from a repository. Give the address of the one to publish to.',
      );
    const given = this.hosts.remote(wanted, caller.scope);
    const refs = await this.smart.refs(given, 'git-upload-pack', signal);
    const { remote } = refs;
    const { url } = remote.address;
    const cloned = own && clonedFrom(own, refs);
    const { base, tip } = baseOf(target.base ?? cloned?.branch ?? refs.head, refs);
    const { branch } = target;
    const before = refs.refs.get(`refs/heads/${branch}`);
    const { pushed, planned, latest } = await this.pushes.to(session, { url, branch });
    const isThere = planned !== undefined && planned.commit === before;
    return {
      settings,
      remote,
      host: this.hosts.describe(hostOf(remote.address)),
      into: cloned?.url ?? url,
      base,
      branch,
      refs,
      start: cloned?.commit ?? tip,
      before,
      pushed: isThere ? before : pushed,
      planned,
      isThere,
      latest,
      sessionPage: this.#publicUrl ? `${this.#publicUrl}/sessions/${session}` : null,
    };
  }
}

function baseOf(
  base: string | undefined,
  { refs, remote }: AdvertisedRefs,
): { base: string; tip: string } {
  if (base === undefined)
    throw new AppError('invalid_input', 'Name the branch to start from as `base`.');
  const tip = refs.get(`refs/heads/${base}`);
  if (tip !== undefined) return { base, tip };
  throw new AppError('not_found', `${remote.address.url} has no branch ${base}.`);
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
