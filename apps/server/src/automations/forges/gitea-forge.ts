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
import {
  foundUsers,
  giteaComment,
  giteaIssue,
  giteaLabel,
  giteaLineComment,
  giteaPermission,
  giteaPull,
  giteaPullText,
  giteaReview,
  giteaAccount,
} from './gitea-shapes.js';
import { combinedStatus, sentText } from './github-shapes.js';

/** `issues` and `pull_request` include labels, comments, reviews and pushes to the branch. */
const hookEvents = [
  'issues',
  'issue_label',
  'issue_assign',
  'issue_comment',
  'pull_request',
  'pull_request_label',
  'pull_request_comment',
  'pull_request_review',
  'pull_request_sync',
  'push',
  'release',
  'status',
  'workflow_run',
  'action_run_failure',
  'action_run_success',
];

const maxTexts = 200;
const maxReviews = 50;

type LineComment = z.output<typeof giteaLineComment>;

/** A repository at Gitea or Forgejo. */
export class GiteaForge implements Forge, ForgeReader {
  readonly kind = 'gitea';

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
    return this.api.read('say whose token it is', 'user', giteaAccount);
  }

  repository(): Promise<ForgeRepository> {
    return this.api.read('read the repository', this.api.repository, forgeRepository);
  }

  level(user: ForgeUser): Promise<ForgeLevel> {
    return levelByName(user, {
      permission: (name) => this.#permission(name),
      userById: (id) => this.#userById(id),
    });
  }

  issue(number: number): Promise<ForgeIssue> {
    return this.api.read(`read issue ${number}`, this.api.at(`issues/${number}`), giteaIssue);
  }

  /** Gitea sends all of them at once. */
  async comments({ number }: ForgeSubject): Promise<ForgeText[]> {
    const path = this.api.at(`issues/${number}/comments`);
    const shape = z.array(giteaComment);
    const found = await this.api.read(`read comments on ${number}`, path, shape);
    return found.slice(-maxTexts).map(({ text }) => text);
  }

  async comment({ number, isPull }: ForgeSubject, id: string): Promise<ForgeText> {
    const path = this.api.at(`issues/comments/${pathPart(id)}`);
    const found = await this.api.find('read a comment', path, giteaComment);
    if (found?.number === number) return found.text;
    // Comments on lines have no address of their own.
    const onLine = isPull ? await this.#lineComments(number) : [];
    const text = onLine.find(({ comment }) => comment.id === id)?.comment;
    if (text) return text;
    throw new AppError('not_found', `There is no comment ${id} on ${number} of ${this.path}.`);
  }

  pull(number: number): Promise<ForgePull> {
    return this.api.read(`read pull request ${number}`, this.api.at(`pulls/${number}`), giteaPull);
  }

  pullText(number: number): Promise<ForgePullText> {
    const path = this.api.at(`pulls/${number}`);
    return this.api.read(`read pull request ${number}`, path, giteaPullText);
  }

  async reviews(number: number): Promise<ForgeReview[]> {
    return (await this.#reviews(number)).map(({ review }) => review).slice(-maxTexts);
  }

  /** Gitea has no threads: comments on one line are one. Its id is that of the first comment. */
  async threads(number: number): Promise<ForgeThread[]> {
    const threads = new Map<string, ForgeThread>();
    for (const one of await this.#lineComments(number)) {
      const key = JSON.stringify([one.path, one.newLine, one.oldLine]);
      const thread = threads.get(key) ?? {
        id: one.comment.id,
        path: one.path,
        line: one.newLine,
        resolved: false,
        comments: [],
      };
      thread.resolved ||= one.isResolved;
      thread.comments.push(one.comment);
      threads.set(key, thread);
    }
    return [...threads.values()].slice(-maxTexts);
  }

  /** Gitea’s actions report their states as those of commits. Versions without pages of them send all at once. */
  async checks(sha: string): Promise<ForgeCheck[]> {
    const checks = new Map<string, ForgeCheck>();
    for (let page = 1; page <= 10; page++) {
      const path = this.api.at(`commits/${pathPart(sha)}/status?limit=50&page=${page}`);
      const { statuses } = await this.api.read('read checks', path, combinedStatus);
      const before = checks.size;
      for (const one of statuses) if (!checks.has(one.name)) checks.set(one.name, one);
      if (statuses.length < 50 || checks.size === before) break;
    }
    return [...checks.values()];
  }

  async pullsAt(sha: string): Promise<ForgePull[]> {
    const path = this.api.at('pulls?state=open&sort=recentupdate');
    const found = await this.api.list('read pull requests', path, giteaPull, { pages: 4 });
    return found.filter((one) => one.state === 'open' && one.sha === sha);
  }

  addComment({ number }: ForgeSubject, body: string): Promise<ForgeSent> {
    return this.#sent(`comment on ${number}`, `issues/${number}/comments`, { body });
  }

  async editComment(subject: ForgeSubject, id: string, body: string): Promise<void> {
    await this.comment(subject, id);
    const path = this.api.at(`issues/comments/${pathPart(id)}`);
    await this.api.send('edit a comment', { method: 'PATCH', path, body: { body } });
  }

  async editPull(number: number, body: { title?: string; body?: string }): Promise<void> {
    const path = this.api.at(`pulls/${number}`);
    await this.api.send(`edit pull request ${number}`, { method: 'PATCH', path, body });
  }

  async react(subject: ForgeSubject, comment: string | null): Promise<void> {
    if (comment !== null) await this.comment(subject, comment);
    const of = comment === null ? `${subject.number}` : `comments/${pathPart(comment)}`;
    const path = this.api.at(`issues/${of}/reactions`);
    await this.api.send('react', { method: 'POST', path, body: { content: 'eyes' } });
  }

  async changeLabels(
    { number }: ForgeSubject,
    { add, remove }: { add: string[]; remove: string[] },
  ): Promise<void> {
    const path = this.api.at(`issues/${number}/labels`);
    if (add.length > 0) {
      const labels = await this.#labelIds(add);
      await this.api.send('add labels', { method: 'POST', path, body: { labels } });
    }
    if (remove.length === 0) return;
    const present = await this.api.read('read labels', path, z.array(giteaLabel));
    for (const { id } of present.filter(({ name }) => remove.includes(name))) {
      const answer = await this.api.answer({ method: 'DELETE', path: `${path}/${id}` });
      if (answer.status >= 300 && answer.status !== 404)
        throw this.api.refusal('remove labels', answer);
    }
  }

  addReview(
    number: number,
    { sha, body, comments }: { sha: string; body: string; comments: NewLineComment[] },
  ): Promise<ForgeSent> {
    return this.#sent(`review ${number}`, `pulls/${number}/reviews`, {
      commit_id: sha,
      event: 'COMMENT',
      body,
      comments: comments.map(({ path, line, side, body: text }) => ({
        path,
        body: text,
        ...(side === 'new' ? { new_position: line } : { old_position: line }),
      })),
    });
  }

  /** A comment on the same line belongs to its thread. */
  async reply(number: number, { id }: ForgeThread, body: string): Promise<ForgeSent> {
    const [pull, comments] = await Promise.all([this.pull(number), this.#lineComments(number)]);
    const first = comments.find(({ comment }) => comment.id === id);
    if (!first) throw new AppError('not_found', `There is no thread ${id} on ${number}.`);
    const { path, newLine, oldLine } = first;
    const line = newLine ?? oldLine;
    if (line === null)
      throw new AppError(
        'rejected',
        `Thread ${id} on ${number} is on no line, and has no replies.`,
      );
    const side = newLine === null ? 'old' : 'new';
    return this.addReview(number, {
      sha: pull.sha,
      body: '',
      comments: [{ path, line, side, body }],
    });
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
    const config = { url, secret, content_type: 'json' };
    const renewed = { active: true, events: hookEvents, config };
    const made = { type: 'gitea', ...renewed };
    return makeHook(this.api, { id, url, made, renewed, renewBy: 'PATCH' });
  }

  removeHook(id: string): Promise<void> {
    return deleteHook(this.api, id);
  }

  /** Undefined for a name that is not a user’s. */
  async #permission(name: string): Promise<z.output<typeof giteaPermission> | undefined> {
    const path = this.api.at(`collaborators/${pathPart(name)}/permission`);
    const answer = await this.api.answer({ method: 'GET', path });
    if (answer.status === 403)
      throw new AppError(
        'forbidden',
        'This server cannot ask who may write: give the token repository administration, or list people in trust.users.',
      );
    if (answer.status === 404) return undefined;
    if (answer.status === 200) return this.api.parse('ask who may write', answer, giteaPermission);
    throw this.api.refusal('ask who may write', answer);
  }

  async #userById(id: string): Promise<ForgeUser | undefined> {
    const found = await this.api.find('look up a user', `users/search?uid=${id}`, foundUsers);
    return found?.data.find((one) => one.id === id);
  }

  async #reviews(number: number): Promise<NonNullable<z.output<typeof giteaReview>>[]> {
    const path = this.api.at(`pulls/${number}/reviews`);
    const options = { pages: 4, fromEnd: true };
    const found = await this.api.list(`read reviews of ${number}`, path, giteaReview, options);
    return found.filter((one) => one !== null);
  }

  async #lineComments(number: number): Promise<LineComment[]> {
    const reviews = (await this.#reviews(number)).filter(({ comments }) => comments > 0);
    const all: LineComment[] = [];
    for (const { review } of reviews.slice(-maxReviews)) {
      const path = this.api.at(`pulls/${number}/reviews/${pathPart(review.id)}/comments`);
      all.push(...(await this.api.read('read comments on lines', path, z.array(giteaLineComment))));
    }
    return all;
  }

  /** Older versions know labels by their ids only. Throws for a name that neither repository nor organization has. */
  async #labelIds(names: readonly string[]): Promise<number[]> {
    const pages = { pages: 10 };
    const own = await this.api.list('read labels', this.api.at('labels'), giteaLabel, pages);
    const owner = pathPart(this.path.split('/')[0] ?? '');
    const ofOwner = names.every((name) => own.some((one) => one.name === name))
      ? []
      : ((await this.api.find(
          'read labels',
          `orgs/${owner}/labels?limit=50`,
          z.array(giteaLabel),
        )) ?? []);
    return names.map((name) => {
      const found = [...own, ...ofOwner].find((one) => one.name === name);
      if (found) return found.id;
      throw new AppError('rejected', `${this.path} has no label ${name}. Make it at ${this.host}.`);
    });
  }

  async #sent(doing: string, path: string, body: unknown): Promise<ForgeSent> {
    const call = { method: 'POST', path: this.api.at(path), body } as const;
    const { id, html_url: url } = await this.api.write(doing, call, sentText);
    return { id, url };
  }
}
