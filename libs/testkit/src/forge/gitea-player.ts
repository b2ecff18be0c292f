import type { ApiFace, Asked, PlayedAnswer } from './api-player.js';
import { answerByRoute, jsonAnswer, linkHeader, listPage } from './api-routes.js';
import type { PlayedEvent } from './forge-records.js';
import { giteaError, giteaNotFound, type GiteaContext } from './gitea-answers.js';
import { GiteaCommitPayloads } from './gitea-commit-payloads.js';
import { giteaCommitRoutes } from './gitea-commit-routes.js';
import { giteaHeaders, giteaWants } from './gitea-hook-headers.js';
import { giteaIssueRoutes } from './gitea-issue-routes.js';
import { GiteaPayloads } from './gitea-payloads.js';
import { giteaPullRoutes } from './gitea-pull-routes.js';
import { GiteaWebhooks } from './gitea-webhooks.js';
import { playedLevels, type PlayedLevel } from './played-levels.js';
import type { RepositoryState } from './repository-state.js';
import { WebhookSender } from './webhook-sender.js';

/** Gitea’s REST API below `/api/v1/` and its webhooks, or those of Forgejo. */
export class GiteaPlayer implements ApiFace, GiteaContext {
  readonly kind = 'gitea';
  readonly prefix = '/api/v1/';
  readonly hasEtags = false;
  readonly unauthorized = giteaError(401, 'invalid username, password or token');
  readonly payloads: GiteaPayloads;
  readonly commits: GiteaCommitPayloads;
  readonly messages: GiteaWebhooks;
  readonly sender: WebhookSender;

  constructor(
    readonly state: RepositoryState,
    private readonly site: string,
    isForgejo: boolean,
  ) {
    this.payloads = new GiteaPayloads(state, site);
    this.commits = new GiteaCommitPayloads(state, this.payloads);
    this.messages = new GiteaWebhooks(state, this.payloads, this.commits, isForgejo);
    this.sender = new WebhookSender({
      wants: giteaWants,
      signed: (signing) => giteaHeaders({ ...signing, isForgejo }),
      keepsGuid: false,
      nextId: () => state.nextId(),
      time: () => state.time(),
    });
  }

  tell(event: PlayedEvent): void {
    for (const webhook of this.messages.of(event)) this.sender.send(webhook);
  }

  isAuthorized(headers: { authorization?: string | undefined }, token: string): boolean {
    const { authorization = '' } = headers;
    return authorization === `token ${token}` || authorization === `Bearer ${token}`;
  }

  /** Gitea counts no requests; what stands before it may. */
  limitHeaders(): Record<string, string> {
    return {};
  }

  limited(): PlayedAnswer {
    return { ...giteaError(429, 'Too Many Requests'), headers: { 'retry-after': '60' } };
  }

  answer(asked: Asked): PlayedAnswer {
    const { state } = this;
    const [, name = '', rest = ''] = /^repos\/([^/]+\/[^/]+)(.*)$/.exec(asked.path) ?? [];
    const wanted = decodeURIComponent(name).toLowerCase();
    if (state.renamed.some((old) => old.toLowerCase() === wanted)) {
      const search = asked.query.size > 0 ? `?${asked.query}` : '';
      const location = `${this.payloads.api}${rest}${search}`;
      return { status: asked.method === 'GET' ? 301 : 307, headers: { location } };
    }
    const isOurs = wanted === state.path.toLowerCase();
    if (name !== '' && !isOurs) return giteaNotFound;
    const path = isOurs ? `R${rest}` : asked.path;
    const routes = {
      ...this.#own(),
      ...giteaIssueRoutes(this),
      ...giteaPullRoutes(this),
      ...giteaCommitRoutes(this),
    };
    return answerByRoute(routes, { ...asked, path }) ?? giteaNotFound;
  }

  readonly page = <T>(
    asked: Asked,
    list: readonly T[],
    shown: (item: T) => unknown,
  ): PlayedAnswer => {
    const page = listPage(list, asked, { name: 'limit', size: 30, most: 50 });
    const path = asked.path.replace(/^R/, `repos/${this.state.path}`);
    const link = linkHeader(page, `${this.site}${this.prefix}${path}`, asked.query);
    const headers = { 'x-total-count': String(page.total), ...(link !== '' && { link }) };
    return { status: 200, body: page.items.map((item) => shown(item)), headers };
  };

  refused(level: PlayedLevel): PlayedAnswer | undefined {
    const has = playedLevels.indexOf(this.state.self.level) >= playedLevels.indexOf(level);
    return has ? undefined : giteaError(403, 'user should have a permission to do this');
  }

  #own() {
    const { state, payloads } = this;
    const named = (name: string) =>
      state.users.find((one) => !one.isDeleted && one.name.toLowerCase() === name.toLowerCase());
    const isReadable = !state.options.isPrivate || state.self.level !== 'none';
    return {
      'GET user': () => jsonAnswer(payloads.user(state.self)),
      'GET users/search': ({ query }: Asked) => {
        const uid = query.get('uid');
        const found = state.users.filter(
          ({ id, name, isDeleted }) =>
            !isDeleted && (uid === null ? name.includes(query.get('q') ?? '') : String(id) === uid),
        );
        return jsonAnswer({ data: found.map(payloads.user), ok: true });
      },
      'GET users/:name': ({ at }: Asked) => {
        const user = named(at('name'));
        return user
          ? jsonAnswer(payloads.user(user))
          : giteaError(404, `user redirect does not exist [name: ${at('name')}]`);
      },
      'GET R': () => (isReadable ? jsonAnswer(payloads.repository()) : giteaNotFound),
      'GET R/collaborators/:name/permission': ({ at }: Asked) => {
        const user = named(at('name'));
        if (state.self.level !== 'admin' && user !== state.self)
          return giteaError(
            403,
            'Only admins can query all permissions, repo admins can query all repo permissions, users can query only their own',
          );
        if (!user) return giteaError(404, `user does not exist [uid: 0, name: ${at('name')}]`);
        return jsonAnswer(payloads.permission(user));
      },
    };
  }
}
