import { AppError, type ForgeUser } from '@belay/protocol';
import { z } from 'zod';
import type { ForgeApi } from './forge-api.js';
import { pathPart } from './forge-fields.js';
import { deleteHook, makeHook } from './forge-hooks.js';
import { forgeRepository } from './issue-shapes.js';
import { levelByName } from './level-by-name.js';
import type { ForgePage, ForgeQuery, ForgeReader } from './forge-polling.js';
import type {
  Forge,
  ForgeCheck,
  ForgeIssue,
  ForgeLevel,
  ForgePull,
  ForgePullText,
  ForgeRepository,
  ForgeReview,
  ForgeSent,
  ForgeSubject,
  ForgeText,
  ForgeThread,
  NewLineComment,
} from './forge.js';
import { githubChecks } from './github-checks.js';
import {
  githubComment,
  githubIssue,
  githubLineComment,
  githubPermission,
  githubPull,
  githubPullText,
  githubReview,
  githubAccount,
  sentText,
} from './github-shapes.js';

/** The events that triggers and the memory of permissions need. */
const hookEvents = [
  'check_suite',
  'issue_comment',
  'issues',
  'member',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'push',
  'release',
  'status',
  'workflow_run',
];

const newest = { pages: 3, fromEnd: true } as const;
const maxTexts = 200;

/** A repository at GitHub. */
export class GithubForge implements Forge, ForgeReader {
  readonly kind = 'github';

  constructor(private readonly api: ForgeApi) {}

  get host(): string {
    return this.api.host;
  }

  get path(): string {
    return this.api.repositoryName;
  }

  get(path: string, query?: ForgeQuery): Promise<ForgePage> {
    return this.api.get(path, query);
  }

  self(): Promise<ForgeUser> {
    return this.api.read('say whose token it is', 'user', githubAccount);
  }

  repository(): Promise<ForgeRepository> {
    return this.api.read('read the repository', this.api.repository, forgeRepository);
  }

  level(user: ForgeUser): Promise<ForgeLevel> {
    return levelByName(user, {
      permission: (name) => this.#permission(name),
      userById: (id) => this.api.find('look up a user', `user/${id}`, githubAccount),
    });
  }

  issue(number: number): Promise<ForgeIssue> {
    return this.api.read(`read issue ${number}`, this.api.at(`issues/${number}`), githubIssue);
  }

  async comments({ number }: ForgeSubject): Promise<ForgeText[]> {
    const path = this.api.at(`issues/${number}/comments`);
    const found = await this.api.list(`read comments on ${number}`, path, githubComment, newest);
    return found.slice(-maxTexts).map(({ text }) => text);
  }

  async comment(subject: ForgeSubject, id: string): Promise<ForgeText> {
    return (await this.#comment(subject, id)).text;
  }

  pull(number: number): Promise<ForgePull> {
    return this.api.read(`read pull request ${number}`, this.api.at(`pulls/${number}`), githubPull);
  }

  pullText(number: number): Promise<ForgePullText> {
    const path = this.api.at(`pulls/${number}`);
    return this.api.read(`read pull request ${number}`, path, githubPullText);
  }

  async reviews(number: number): Promise<ForgeReview[]> {
    const path = this.api.at(`pulls/${number}/reviews`);
    const found = await this.api.list(`read reviews of ${number}`, path, githubReview, newest);
    return found.filter((one) => one !== null).slice(-maxTexts);
  }

  /** Whether a thread is resolved is not in GitHub’s REST API: all count as open. */
  async threads(number: number): Promise<ForgeThread[]> {
    const path = this.api.at(`pulls/${number}/comments`);
    const found = await this.api.list(
      `read comments on lines of ${number}`,
      path,
      githubLineComment,
      newest,
    );
    const threads = new Map<string, ForgeThread>();
    for (const { root, path: file, line, comment } of found) {
      const thread = threads.get(root) ?? {
        id: root,
        path: file,
        line,
        resolved: false,
        comments: [],
      };
      thread.comments.push(comment);
      threads.set(root, thread);
    }
    return [...threads.values()].slice(-maxTexts);
  }

  checks(sha: string): Promise<ForgeCheck[]> {
    return githubChecks(this.api, sha);
  }

  async pullsAt(sha: string): Promise<ForgePull[]> {
    const path = this.api.at(`commits/${pathPart(sha)}/pulls`);
    const found = await this.api.list('read pull requests', path, githubPull, { pages: 2 });
    return found.filter((one) => one.state === 'open' && one.sha === sha);
  }

  addComment({ number }: ForgeSubject, body: string): Promise<ForgeSent> {
    const path = this.api.at(`issues/${number}/comments`);
    return this.#sent(`comment on ${number}`, path, { body });
  }

  async editComment(subject: ForgeSubject, id: string, body: string): Promise<void> {
    const { path } = await this.#comment(subject, id);
    await this.api.send('edit a comment', { method: 'PATCH', path, body: { body } });
  }

  async editPull(number: number, body: { title?: string; body?: string }): Promise<void> {
    const path = this.api.at(`pulls/${number}`);
    await this.api.send(`edit pull request ${number}`, { method: 'PATCH', path, body });
  }

  async react(subject: ForgeSubject, comment: string | null): Promise<void> {
    const path =
      comment === null
        ? this.api.at(`issues/${subject.number}`)
        : (await this.#comment(subject, comment)).path;
    const body = { content: 'eyes' };
    await this.api.send('react', { method: 'POST', path: `${path}/reactions`, body });
  }

  async changeLabels(
    { number }: ForgeSubject,
    { add, remove }: { add: string[]; remove: string[] },
  ): Promise<void> {
    const path = this.api.at(`issues/${number}/labels`);
    if (add.length > 0)
      await this.api.send('add labels', { method: 'POST', path, body: { labels: add } });
    for (const label of remove) {
      const call = { method: 'DELETE', path: `${path}/${pathPart(label)}` } as const;
      const answer = await this.api.answer(call);
      // It was not there.
      if (answer.status >= 300 && answer.status !== 404)
        throw this.api.refusal('remove labels', answer);
    }
  }

  addReview(
    number: number,
    { sha, body, comments }: { sha: string; body: string; comments: NewLineComment[] },
  ): Promise<ForgeSent> {
    return this.#sent(`review ${number}`, this.api.at(`pulls/${number}/reviews`), {
      commit_id: sha,
      event: 'COMMENT',
      body,
      comments: comments.map(({ side, ...one }) => ({
        ...one,
        side: side === 'new' ? 'RIGHT' : 'LEFT',
      })),
    });
  }

  reply(number: number, { id }: ForgeThread, body: string): Promise<ForgeSent> {
    const path = this.api.at(`pulls/${number}/comments/${pathPart(id)}/replies`);
    return this.#sent('reply', path, { body });
  }

  setHook({
    id,
    url,
    secret,
  }: {
    id: string | null;
    url: string;
    secret: string;
  }): Promise<string> {
    const config = { url, secret, content_type: 'json', insecure_ssl: '0' };
    const renewed = { active: true, events: hookEvents, config };
    const made = { name: 'web', ...renewed };
    return makeHook(this.api, { id, url, made, renewed, renewBy: 'PATCH' });
  }

  removeHook(id: string): Promise<void> {
    return deleteHook(this.api, id);
  }

  /** Undefined for a name that is not a user’s. */
  async #permission(name: string): Promise<z.output<typeof githubPermission> | undefined> {
    const path = this.api.at(`collaborators/${pathPart(name)}/permission`);
    return this.api.find('ask who may write', path, githubPermission);
  }

  /** Comments on lines have ids and addresses of their own. */
  async #comment(
    { number, isPull }: ForgeSubject,
    id: string,
  ): Promise<{ path: string; text: ForgeText }> {
    for (const list of isPull ? ['issues', 'pulls'] : ['issues']) {
      const path = this.api.at(`${list}/comments/${pathPart(id)}`);
      const comment = await this.api.find('read a comment', path, githubComment);
      if (comment?.number === number) return { path, text: comment.text };
    }
    throw new AppError('not_found', `There is no comment ${id} on ${number} of ${this.path}.`);
  }

  async #sent(doing: string, path: string, body: unknown): Promise<ForgeSent> {
    const { id, html_url: url } = await this.api.write(
      doing,
      { method: 'POST', path, body },
      sentText,
    );
    return { id, url };
  }
}
