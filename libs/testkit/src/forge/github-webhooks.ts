import { createHmac } from 'node:crypto';
import type { PlayedEvent, PlayedHook } from './forge-records.js';
import type { GithubCheckPayloads } from './github-check-payloads.js';
import { githubSeconds, githubStatusState, type GithubPayloads } from './github-payloads.js';
import { noCommit } from './played-git.js';
import type { RepositoryState } from './repository-state.js';
import type { Webhook } from './webhook-sender.js';

type Of<T extends PlayedEvent['type']> = Extract<PlayedEvent, { type: T }>;

const hmac = (algorithm: string, secret: string, body: string): string =>
  `${algorithm}=${createHmac(algorithm, secret).update(body).digest('hex')}`;

/** Whether GitHub sends a webhook to a hook. */
export const githubWants = ({ events }: PlayedHook, { event }: Webhook): boolean =>
  event === 'ping' || events.includes('*') || events.includes(event);

/** The headers of a webhook from GitHub. */
export function githubHeaders(signing: {
  hook: PlayedHook;
  guid: string;
  body: string;
  webhook: Webhook;
  repository: number;
}): Record<string, string> {
  const { hook, guid, body, webhook, repository } = signing;
  return {
    accept: '*/*',
    'content-type': hook.isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    'user-agent': 'GitHub-Hookshot/044aadd',
    'x-github-delivery': guid,
    'x-github-event': webhook.event,
    'x-github-hook-id': String(hook.id),
    'x-github-hook-installation-target-id': String(repository),
    'x-github-hook-installation-target-type': 'repository',
    ...(hook.secret !== null && {
      'x-hub-signature': hmac('sha1', hook.secret, body),
      'x-hub-signature-256': hmac('sha256', hook.secret, body),
    }),
  };
}

/** What GitHub sends when something happens. */
export class GithubWebhooks {
  constructor(
    private readonly state: RepositoryState,
    private readonly payloads: GithubPayloads,
    private readonly checks: GithubCheckPayloads,
  ) {}

  of(event: PlayedEvent): Webhook[] {
    const sender = this.payloads.user('by' in event ? event.by : this.state.self);
    const shared = { repository: this.payloads.repository(), sender };
    return this.#bodies(event).map(([name, body]) => ({
      event: name,
      body: { ...body, ...shared },
      headers: {},
    }));
  }

  #bodies(event: PlayedEvent): [name: string, body: object][] {
    switch (event.type) {
      case 'issue':
        return [this.#issue(event)];
      case 'comment':
        return [['issue_comment', this.#comment(event)]];
      case 'review': {
        const { state, ...review } = this.payloads.review(event.issue, event.review);
        const pull_request = this.payloads.pull(event.issue);
        // Webhooks have the verdict in small letters, the API in capitals.
        const shown = { ...review, state: state.toLowerCase() };
        return [['pull_request_review', { action: 'submitted', review: shown, pull_request }]];
      }
      case 'line': {
        const comment = this.payloads.line(event.issue, event.thread, event.comment);
        const pull_request = this.payloads.pull(event.issue);
        return [['pull_request_review_comment', { action: 'created', comment, pull_request }]];
      }
      case 'checks':
        return this.#checks(event);
      case 'push':
        return this.#push(event);
      case 'release': {
        const release = this.payloads.release(event.release);
        const actions = ['published', 'created', 'released'];
        return actions.map((action) => ['release', { action, release }]);
      }
      case 'ping':
        return [['ping', this.#ping(event)]];
    }
  }

  #issue(event: Of<'issue'>): [string, object] {
    const { action, issue, before, label, assignee, oldSha } = event;
    const changes = {
      ...(before.title !== issue.title && { title: { from: before.title } }),
      ...(before.body !== issue.body && { body: { from: before.body } }),
    };
    const more = {
      ...(label !== undefined && { label: this.payloads.label(label) }),
      ...(assignee && { assignee: this.payloads.user(assignee) }),
      ...(action === 'edited' && { changes }),
    };
    if (!issue.pull) return ['issues', { action, issue: this.payloads.issue(issue), ...more }];
    const pull = this.payloads.wholePull({ ...issue, pull: issue.pull });
    const body = { action, number: issue.number, pull_request: pull, ...more };
    const moved = { before: oldSha, after: issue.pull.sha };
    return ['pull_request', oldSha === undefined ? body : { ...body, ...moved }];
  }

  #comment({ action, issue, comment, oldBody }: Of<'comment'>): object {
    return {
      action,
      issue: this.payloads.issue(issue),
      comment: this.payloads.comment(issue, comment),
      ...(action === 'edited' && { changes: { body: { from: oldBody } } }),
    };
  }

  #checks({ sha, branch, changed, all }: Of<'checks'>): [string, object][] {
    const runs = changed.filter(({ kind }) => kind === 'run');
    const isDone = all.every(({ kind, state }) => kind === 'status' || state !== 'pending');
    const action = 'completed';
    const own = runs.map((check): [string, object] => [
      'check_run',
      {
        action: check.state === 'pending' ? 'created' : action,
        check_run: this.checks.run(check),
      },
    ]);
    const suite: [string, object][] =
      runs.length > 0 && isDone
        ? [
            ['check_suite', { action, check_suite: this.checks.suite(sha, branch) }],
            [
              'workflow_run',
              {
                action,
                workflow_run: this.checks.workflowRun(sha, branch),
                workflow: { id: 1, name: 'CI', path: '.github/workflows/ci.yml', state: 'active' },
              },
            ],
          ]
        : [];
    const statuses = changed
      .filter(({ kind }) => kind === 'status')
      .map((check): [string, object] => ['status', this.#status(check, branch)]);
    return [...own, ...suite, ...statuses];
  }

  #status(check: Of<'checks'>['all'][number], branch: string | null): object {
    const { sha } = check;
    const commit = this.state.git.commitAt(sha);
    return {
      id: check.id,
      sha,
      name: this.state.path,
      target_url: check.url,
      avatar_url: null,
      context: check.name,
      description: check.summary,
      state: githubStatusState(check.state),
      commit: commit ? this.checks.commit(commit) : null,
      branches: branch === null ? [] : [{ name: branch, commit: { sha }, protected: false }],
      created_at: githubSeconds(check.created),
      updated_at: githubSeconds(check.updated),
    };
  }

  #push({ ref, before, after, by }: Of<'push'>): [string, object][] {
    const { git } = this.state;
    const isDeleted = after === noCommit;
    const isCreated = before === noCommit;
    const start = isCreated ? git.resolve(this.state.defaultBranch) : before;
    const commits = isDeleted ? [] : git.commits(start ?? noCommit, after);
    const pushed = commits.map(this.checks.pushed);
    const head = isDeleted ? undefined : git.commitAt(after);
    const repository = this.payloads.repository();
    const branch = ref.replace(/^refs\/(heads|tags)\//, '');
    const pusher = { name: by.name, email: `${by.id}+${by.name}@users.noreply.example.com` };
    const body = {
      ref,
      before,
      after,
      pusher,
      organization: { login: repository.owner.login, id: repository.owner.id },
      created: isCreated,
      deleted: isDeleted,
      forced: !isCreated && !isDeleted && !git.isAncestor(before, after),
      base_ref: null,
      compare: `${this.payloads.site}/${this.state.path}/compare/${before.slice(0, 12)}...${after.slice(0, 12)}`,
      commits: pushed,
      head_commit: head ? this.checks.pushed(head) : null,
    };
    const ref_type = ref.startsWith('refs/tags/') ? 'tag' : 'branch';
    const named = { ref: branch, ref_type, pusher_type: 'user' };
    const made = { ...named, master_branch: this.state.defaultBranch, description: null };
    if (isDeleted) return [['delete', named], ['push', body]]; // prettier-ignore
    return isCreated
      ? [
          ['create', made],
          ['push', body],
        ]
      : [['push', body]];
  }

  #ping({ hook }: Of<'ping'>): object {
    return { zen: 'Keep it logically awesome.', hook_id: hook.id, hook: this.hook(hook) };
  }

  readonly hook = (hook: PlayedHook) => {
    const url = `${this.payloads.api}/repos/${this.state.path}/hooks/${hook.id}`;
    return {
      type: 'Repository',
      id: hook.id,
      name: 'web',
      active: hook.isActive,
      events: hook.events,
      config: {
        content_type: hook.isForm ? 'form' : 'json',
        insecure_ssl: '0',
        url: hook.url,
        ...(hook.secret !== null && { secret: '********' }),
      },
      updated_at: githubSeconds(hook.created),
      created_at: githubSeconds(hook.created),
      url,
      test_url: `${url}/test`,
      ping_url: `${url}/pings`,
      deliveries_url: `${url}/deliveries`,
      last_response: { code: null, status: 'unused', message: null },
    };
  };
}
