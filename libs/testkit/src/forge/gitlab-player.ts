import type { ApiFace, Asked, PlayedAnswer, PlayedLimits } from './api-player.js';
import { answerByRoute, jsonAnswer, linkHeader, listPage } from './api-routes.js';
import type { PlayedEvent, PlayedFork } from './forge-records.js';
import { gitlabError, type GitlabContext } from './gitlab-answers.js';
import { GitlabCommitPayloads } from './gitlab-commit-payloads.js';
import { gitlabCommitRoutes } from './gitlab-commit-routes.js';
import { gitlabHeaders, gitlabWants } from './gitlab-hook-headers.js';
import { GitlabHookParts } from './gitlab-hook-parts.js';
import { gitlabIssueRoutes } from './gitlab-issue-routes.js';
import { gitlabMergeRoutes, openMerge } from './gitlab-merge-routes.js';
import { GitlabPayloads } from './gitlab-payloads.js';
import { GitlabWebhooks } from './gitlab-webhooks.js';
import { playedLevels, type PlayedLevel } from './played-levels.js';
import type { RepositoryState } from './repository-state.js';
import { WebhookSender } from './webhook-sender.js';

/** GitLab’s REST API below `/api/v4/` and its webhooks. */
export class GitlabPlayer implements ApiFace, GitlabContext {
  readonly kind = 'gitlab';
  readonly prefix = '/api/v4/';
  readonly hasEtags = true;
  readonly unauthorized = gitlabError(401, '401 Unauthorized');
  readonly payloads: GitlabPayloads;
  readonly messages: GitlabWebhooks;
  readonly sender: WebhookSender;

  constructor(
    readonly state: RepositoryState,
    private readonly site: string,
  ) {
    this.payloads = new GitlabPayloads(state, new GitlabCommitPayloads(state, site));
    const parts = new GitlabHookParts(state, this.payloads);
    this.messages = new GitlabWebhooks(state, this.payloads, parts);
    this.sender = new WebhookSender({
      wants: gitlabWants,
      signed: (signing) => gitlabHeaders({ ...signing, site, at: Math.floor(state.now() / 1000) }),
      keepsGuid: true,
      nextId: () => state.nextId(),
      time: () => state.time(),
    });
  }

  tell(event: PlayedEvent): void {
    for (const webhook of this.messages.of(event)) this.sender.send(webhook);
  }

  isAuthorized(
    headers: { 'private-token'?: string | string[]; authorization?: string | undefined },
    token: string,
  ): boolean {
    return headers['private-token'] === token || headers.authorization === `Bearer ${token}`;
  }

  limitHeaders({ limit, remaining, reset }: PlayedLimits): Record<string, string> {
    const left = Math.max(remaining, 0);
    return {
      'ratelimit-limit': String(limit),
      'ratelimit-name': 'throttle_authenticated_api',
      'ratelimit-observed': String(limit - left),
      'ratelimit-remaining': String(left),
      'ratelimit-reset': String(reset),
    };
  }

  limited({ reset }: PlayedLimits): PlayedAnswer {
    const wait = Math.max(Math.ceil(reset - this.state.now() / 1000), 1);
    return { status: 429, body: 'Retry later\n', headers: { 'retry-after': String(wait) } };
  }

  answer(asked: Asked): PlayedAnswer {
    const { state } = this;
    const [, project = '', rest = ''] = /^projects\/([^/]+)(.*)$/.exec(asked.path) ?? [];
    const name = decodeURIComponent(project);
    if (state.renamed.includes(name)) return this.#moved(asked, rest);
    const fork = state.forks.find(({ id, path }) => [String(id), path].includes(name));
    if (fork && !fork.isDeleted) return this.#fork(asked, rest, fork);
    const isOurs = [String(state.id), state.path].includes(name);
    if (project !== '' && !isOurs) return gitlabError(404, '404 Project Not Found');
    const path = isOurs ? `P${rest}` : asked.path;
    const routes = {
      ...this.#own(),
      ...gitlabIssueRoutes(this),
      ...gitlabMergeRoutes(this),
      ...gitlabCommitRoutes(this),
    };
    const missing = { status: 404, body: { message: '404 Not found' } };
    return answerByRoute(routes, { ...asked, path }) ?? missing;
  }

  readonly page = <T>(
    asked: Asked,
    list: readonly T[],
    shown: (item: T) => unknown,
  ): PlayedAnswer => {
    const page = listPage(list, asked, { name: 'per_page', size: 20, most: 100 });
    const path = asked.path.replace(/^P/, `projects/${this.state.id}`);
    const { number, pages, size, total } = page;
    const headers = {
      link: linkHeader(page, `${this.site}${this.prefix}${path}`, asked.query),
      'x-page': String(number),
      'x-next-page': number < pages ? String(number + 1) : '',
      'x-prev-page': number > 1 ? String(number - 1) : '',
      'x-per-page': String(size),
      'x-total': String(total),
      'x-total-pages': String(pages),
    };
    return { status: 200, body: page.items.map((item) => shown(item)), headers };
  };

  refused(level: PlayedLevel): PlayedAnswer | undefined {
    const has = playedLevels.indexOf(this.state.self.level) >= playedLevels.indexOf(level);
    return has ? undefined : gitlabError(403, '403 Forbidden');
  }

  #moved({ method }: Asked, rest: string): PlayedAnswer {
    if (method !== 'GET')
      return gitlabError(405, 'Non GET methods are not allowed for moved projects');
    const location = `${this.site}${this.prefix}projects/${this.state.id}${rest}`;
    return { ...gitlabError(301, '301 Moved Permanently'), headers: { location } };
  }

  #fork({ method, body }: Asked, rest: string, fork: PlayedFork): PlayedAnswer {
    if (rest === '' && method === 'GET') return jsonAnswer(this.payloads.project(fork));
    const isForUs = body['target_project_id'] === this.state.id;
    if (rest === '/merge_requests' && method === 'POST' && isForUs)
      return openMerge(this, body, fork);
    return gitlabError(404, '404 Not Found');
  }

  #own() {
    const { state, payloads } = this;
    const isReadable = !state.options.isPrivate || state.self.level !== 'none';
    const user = ({ at }: Asked) =>
      state.users.find(({ id, isDeleted }) => String(id) === at('id') && !isDeleted);
    const isBot = ({ kind }: { kind: string }) => kind === 'bot';
    const member = (asked: Asked) => {
      const found = user(asked);
      if (!found || found.level === 'none') return gitlabError(404, '404 Not found');
      return jsonAnswer(payloads.member(found));
    };
    return {
      'GET user': () => jsonAnswer({ ...payloads.user(state.self), bot: isBot(state.self) }),
      'GET users': (asked: Asked) => {
        const wanted = asked.query.get('username')?.toLowerCase();
        const found = state.users.filter(
          ({ name, isDeleted }) =>
            !isDeleted && (wanted === undefined || name.toLowerCase() === wanted),
        );
        return this.page(asked, found, payloads.user);
      },
      'GET users/:id': (asked: Asked) => {
        const found = user(asked);
        if (!found) return gitlabError(404, '404 User Not Found');
        return jsonAnswer({ ...payloads.user(found), bot: isBot(found) });
      },
      'GET P': () =>
        isReadable ? jsonAnswer(payloads.project()) : gitlabError(404, '404 Project Not Found'),
      'GET P/members/all/:id': member,
      'GET P/members/:id': member,
      'GET P/labels': (asked: Asked) =>
        this.page(asked, state.labels, ({ id, name }) => ({ id, name, color: '#ffffff' })),
    };
  }
}
