import type { ApiFace, Asked, PlayedAnswer, PlayedLimits } from './api-player.js';
import { answerByRoute, jsonAnswer, linkHeader, listPage } from './api-routes.js';
import type { PlayedEvent, PlayedHook, PlayedUser } from './forge-records.js';
import { playedLevels, type PlayedLevel } from './played-levels.js';
import { githubDocumentation, githubError, type GithubContext } from './github-answers.js';
import { GithubCheckPayloads } from './github-check-payloads.js';
import { githubCommitRoutes } from './github-commit-routes.js';
import { githubIssueRoutes } from './github-issue-routes.js';
import { GithubPayloads } from './github-payloads.js';
import { githubPullRoutes } from './github-pull-routes.js';
import { githubHeaders, githubWants, GithubWebhooks } from './github-webhooks.js';
import type { RepositoryState } from './repository-state.js';
import { WebhookSender } from './webhook-sender.js';

/** GitHub’s REST API below `/api/v3/`, as its Enterprise Server has it, and its webhooks. */
export class GithubPlayer implements ApiFace, GithubContext {
  readonly kind = 'github';
  readonly prefix = '/api/v3/';
  readonly hasEtags = true;
  readonly unauthorized = githubError(401, 'Bad credentials');
  readonly payloads: GithubPayloads;
  readonly checks: GithubCheckPayloads;
  readonly messages: GithubWebhooks;
  readonly sender: WebhookSender;

  constructor(
    readonly state: RepositoryState,
    site: string,
  ) {
    this.payloads = new GithubPayloads(state, site, `${site}/api/v3`);
    this.checks = new GithubCheckPayloads(state, this.payloads);
    this.messages = new GithubWebhooks(state, this.payloads, this.checks);
    this.sender = new WebhookSender({
      wants: githubWants,
      signed: (signing) => githubHeaders({ ...signing, repository: state.id }),
      keepsGuid: true,
      nextId: () => state.nextId(),
      time: () => state.time(),
    });
  }

  tell(event: PlayedEvent): void {
    const only = event.type === 'ping' ? event.hook : undefined;
    for (const webhook of this.messages.of(event)) this.sender.send(webhook, only);
  }

  isAuthorized(headers: { authorization?: string | undefined }, token: string): boolean {
    const { authorization = '' } = headers;
    return authorization === `Bearer ${token}` || authorization === `token ${token}`;
  }

  limitHeaders({ limit, remaining, reset }: PlayedLimits): Record<string, string> {
    return {
      'x-github-media-type': 'github.v3; format=json',
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(remaining, 0)),
      'x-ratelimit-reset': String(reset),
      'x-ratelimit-used': String(limit - Math.max(remaining, 0)),
      'x-ratelimit-resource': 'core',
      'x-oauth-scopes': 'repo',
    };
  }

  limited(): PlayedAnswer {
    return githubError(403, `API rate limit exceeded for user ID ${this.state.self.id}.`);
  }

  answer(asked: Asked): PlayedAnswer {
    const { state } = this;
    for (const old of state.renamed)
      if (`${asked.path}/`.startsWith(`repos/${old}/`)) return this.#moved(asked, old);
    const path = asked.path
      .replace(/^repositories\/(\d+)/, (all, id) => (Number(id) === state.id ? 'R' : all))
      .replace(/^repos\/[^/]+\/[^/]+/, (all) => (isSame(all, `repos/${state.path}`) ? 'R' : all));
    const routes = {
      ...this.#own(),
      ...githubIssueRoutes(this),
      ...githubPullRoutes(this),
      ...githubCommitRoutes(this),
    };
    return answerByRoute(routes, { ...asked, path }) ?? githubError(404, 'Not Found');
  }

  readonly page = <T>(
    asked: Asked,
    list: readonly T[],
    shown: (item: T) => unknown,
  ): PlayedAnswer => {
    const page = listPage(list, asked, { name: 'per_page', size: 30, most: 100 });
    const address = `${this.payloads.api}/${asked.path.replace(/^R/, `repositories/${this.state.id}`)}`;
    const link = linkHeader(page, address, asked.query);
    const headers: Record<string, string> = link === '' ? {} : { link };
    return { status: 200, body: page.items.map((item) => shown(item)), headers };
  };

  refused(level: PlayedLevel): PlayedAnswer | undefined {
    const has = playedLevels.indexOf(this.state.self.level) >= playedLevels.indexOf(level);
    return has ? undefined : githubError(403, 'Resource not accessible by personal access token');
  }

  hookShown(hook: PlayedHook): object {
    return this.messages.hook(hook);
  }

  ping(hook: PlayedHook): void {
    this.tell({ type: 'ping', hook });
  }

  named(name: string): PlayedUser | undefined {
    return this.state.users.find((one) => !one.isDeleted && isSame(one.name, name));
  }

  #moved({ method, path, query }: Asked, old: string): PlayedAnswer {
    const rest = path.slice(`repos/${old}`.length);
    const search = query.size > 0 ? `?${query}` : '';
    const url = `${this.payloads.api}/repositories/${this.state.id}${rest}${search}`;
    const body = { message: 'Moved Permanently', url, documentation_url: githubDocumentation };
    return { status: method === 'GET' ? 301 : 307, body, headers: { location: url } };
  }

  #own() {
    const { state, payloads } = this;
    const isReadable = !state.options.isPrivate || state.self.level !== 'none';
    return {
      'GET user': () => jsonAnswer({ ...payloads.user(state.self), name: null }),
      'GET users/:name': ({ at }: Asked) => {
        const user = this.named(at('name'));
        return user && jsonAnswer(payloads.user(user));
      },
      'GET user/:id': ({ at }: Asked) => {
        const user = state.users.find((one) => String(one.id) === at('id') && !one.isDeleted);
        return user && jsonAnswer(payloads.user(user));
      },
      'GET R': () =>
        isReadable
          ? jsonAnswer({ ...payloads.repository(), permissions: payloads.permissions(state.self) })
          : undefined,
      'GET R/collaborators/:name/permission': ({ at }: Asked) => {
        const user = this.named(at('name'));
        const refusal = this.refused('write');
        if (refusal)
          return githubError(403, 'Must have push access to view collaborator permission.');
        // GitHub's own bots are not users to it, nor are accounts that do not exist.
        if (!user || (user.kind === 'bot' && !user.name.endsWith('[bot]')))
          return githubError(404, `${at('name')} is not a user`);
        return jsonAnswer(payloads.permission(user));
      },
    };
  }
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
