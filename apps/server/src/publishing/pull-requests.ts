import { Injectable } from '@nestjs/common';
import { NewestMap, type PullRequestStatus } from '@belay/protocol';
import type { Caller } from '../access/caller.js';
import { GitHosts, hostOf } from '../git/git-hosts.js';
import { EventLog } from '../logs/event-log.js';
import { GitHostApi } from './git-host-api.js';

/** How long a status is used for other requests: hosts limit how often they are asked. */
const freshMs = 15_000;
const mostKept = 500;
const timeoutMs = 20_000;

interface Kept {
  until: number;
  status: Promise<PullRequestStatus>;
}

/** The pull requests that sessions were published as, as their hosts have them now. */
@Injectable()
export class PullRequests {
  /** By caller’s scope, because only some may use the host’s token, and request. */
  readonly #kept = new NewestMap<string, Kept>(mostKept);

  constructor(
    private readonly log: EventLog,
    private readonly hosts: GitHosts,
    private readonly api: GitHostApi,
  ) {}

  /** Null for a session without a pull request. Throws one sentence when the host does not answer. */
  async status(session: string, caller: Caller): Promise<PullRequestStatus | null> {
    const { published } = await this.log.summary(session);
    const request = published?.pullRequest;
    if (!request) return null;
    const key = `${caller.scope} ${request.into} ${request.number}`;
    const kept = this.#kept.get(key);
    if (kept && kept.until > Date.now()) return kept.status;
    const remote = this.hosts.remote(request.into, caller.scope);
    const host = this.hosts.describe(hostOf(remote.address));
    const signal = AbortSignal.timeout(timeoutMs);
    const status = this.api.pullRequest({ remote, host, signal }, request);
    this.#kept.set(key, { until: Date.now() + freshMs, status });
    return status;
  }
}
