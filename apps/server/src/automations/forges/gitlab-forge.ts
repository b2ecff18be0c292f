import { AppError, type ForgeUser } from '@belay/protocol';
import { z } from 'zod';
import { hostWords } from '../../git/git-host-request.js';
import type { ForgeApi } from './forge-api.js';
import { hostId, pathPart } from './forge-fields.js';
import { deleteHook, makeHook } from './forge-hooks.js';
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
import { gitlabChecks } from './gitlab-checks.js';
import { gitlabPosition, threadKey } from './gitlab-position.js';
import {
  gitlabApprovals,
  gitlabDiff,
  gitlabDiscussion,
  gitlabIssue,
  gitlabMember,
  gitlabMerge,
  gitlabMergeText,
  gitlabNote,
  gitlabProject,
  gitlabReviewer,
  gitlabAccount,
  isLineNote,
  isPublicNote,
  noteText,
} from './gitlab-shapes.js';

const hookEvents = {
  push_events: true,
  issues_events: true,
  confidential_issues_events: false,
  note_events: true,
  confidential_note_events: false,
  merge_requests_events: true,
  pipeline_events: true,
  releases_events: true,
  enable_ssl_verification: true,
};

const maxTexts = 200;
const sent = z.object({ id: hostId });

/** A project at GitLab. Confidential issues and internal notes are left out: what is published would tell of them. */
export class GitlabForge implements Forge, ForgeReader {
  readonly kind = 'gitlab';

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
    return this.api.read('say whose token it is', 'user', gitlabAccount);
  }

  repository(): Promise<ForgeRepository> {
    return this.api.read('read the repository', this.api.repository, gitlabProject);
  }

  async level({ id }: ForgeUser): Promise<ForgeLevel> {
    const path = this.api.at(`members/all/${pathPart(id)}`);
    const member = await this.api.find('ask who may write', path, gitlabMember);
    return member?.id === id ? member.level : 'none';
  }

  async issue(number: number): Promise<ForgeIssue> {
    const path = this.api.at(`issues/${number}`);
    const { issue, isConfidential } = await this.api.read(
      `read issue ${number}`,
      path,
      gitlabIssue,
    );
    if (!isConfidential) return issue;
    throw new AppError(
      'forbidden',
      `Issue ${number} of ${this.path} is confidential, and automations do not work on such.`,
    );
  }

  async comments(subject: ForgeSubject): Promise<ForgeText[]> {
    const path = `${this.#subject(subject)}/notes?sort=desc&order_by=created_at`;
    const doing = `read comments on ${subject.number}`;
    const notes = await this.api.list(doing, path, gitlabNote, { pages: 5 });
    return notes
      .filter((one) => isPublicNote(one) && !isLineNote(one))
      .slice(0, maxTexts)
      .toReversed()
      .map((one) => noteText(one, this.#page(subject)));
  }

  async comment(subject: ForgeSubject, id: string): Promise<ForgeText> {
    const path = `${this.#subject(subject)}/notes/${pathPart(id)}`;
    const found = await this.api.find('read a comment', path, gitlabNote);
    if (found && isPublicNote(found)) return noteText(found, this.#page(subject));
    throw new AppError(
      'not_found',
      `There is no comment ${id} on ${subject.number} of ${this.path}.`,
    );
  }

  async pull(number: number): Promise<ForgePull> {
    return (await this.#merge(number)).pull;
  }

  pullText(number: number): Promise<ForgePullText> {
    const path = this.#mergePath(number);
    return this.api.read(`read merge request ${number}`, path, gitlabMergeText);
  }

  /** GitLab keeps one verdict for each user, without a text or a commit. */
  async reviews(number: number): Promise<ForgeReview[]> {
    const of = this.#mergePath(number);
    const doing = `read reviews of ${number}`;
    const { approved_by: approvals } = (await this.api.find(
      doing,
      `${of}/approvals`,
      gitlabApprovals,
    )) ?? { approved_by: [] };
    const reviewers =
      (await this.api.find(doing, `${of}/reviewers`, z.array(gitlabReviewer))) ?? [];
    const url = this.#page({ number, isPull: true });
    const review = (
      author: ForgeUser,
      verdict: ForgeReview['verdict'],
      updated: string,
    ): ForgeReview => ({
      id: `${verdict}:${author.id}`,
      author,
      body: '',
      updated,
      url,
      verdict,
      sha: null,
    });
    return [
      ...reviewers
        .filter(({ state }) => state === 'requested_changes' || state === 'reviewed')
        .map(({ user, state, created_at: at }) =>
          review(user, state === 'reviewed' ? 'comment' : 'changes', at),
        ),
      ...approvals.map(({ user, approved_at: at }) => review(user, 'approved', at)),
    ].slice(-maxTexts);
  }

  async threads(number: number): Promise<ForgeThread[]> {
    const path = `${this.#mergePath(number)}/discussions`;
    const doing = `read comments on lines of ${number}`;
    const [{ pull }, found] = await Promise.all([
      this.#merge(number),
      this.api.list(doing, path, gitlabDiscussion, { pages: 5, fromEnd: true }),
    ]);
    const page = this.#page({ number, isPull: true });
    return found
      .flatMap(({ id, notes }) => {
        const visible = notes.filter(isPublicNote);
        const [first] = visible;
        if (!first?.position || !isLineNote(first)) return [];
        const { new_path: file, new_line: line, head_sha: head } = first.position;
        return {
          id,
          path: file,
          // A position of an older version of the change is outdated.
          line: head === pull.sha ? (line ?? null) : null,
          resolved: visible.every((one) => one.resolvable !== true || one.resolved === true),
          comments: visible.slice(-maxTexts).map((one) => noteText(one, page)),
        };
      })
      .slice(-maxTexts);
  }

  checks(sha: string): Promise<ForgeCheck[]> {
    return gitlabChecks(this.api, sha);
  }

  async pullsAt(sha: string): Promise<ForgePull[]> {
    const path = this.api.at(`repository/commits/${pathPart(sha)}/merge_requests?state=opened`);
    const found = await this.api.list('read merge requests', path, gitlabMerge, { pages: 2 });
    return found.map(({ pull }) => pull).filter((one) => one.state === 'open' && one.sha === sha);
  }

  async addComment(subject: ForgeSubject, body: string): Promise<ForgeSent> {
    const path = `${this.#subject(subject)}/notes`;
    const doing = `comment on ${subject.number}`;
    return this.#sent(subject, await this.api.write(doing, post(path, { body }), sent));
  }

  async editComment(subject: ForgeSubject, id: string, body: string): Promise<void> {
    const path = `${this.#subject(subject)}/notes/${pathPart(id)}`;
    await this.api.send('edit a comment', { method: 'PUT', path, body: { body } });
  }

  async editPull(
    number: number,
    { title, body: description }: { title?: string; body?: string },
  ): Promise<void> {
    const path = this.#mergePath(number);
    const body = { title, description };
    await this.api.send(`edit merge request ${number}`, { method: 'PUT', path, body });
  }

  async react(subject: ForgeSubject, comment: string | null): Promise<void> {
    const of = this.#subject(subject);
    const at = comment === null ? of : `${of}/notes/${pathPart(comment)}`;
    const answer = await this.api.answer(post(`${at}/award_emoji`, { name: 'eyes' }));
    if (answer.status < 300 || /already been taken/i.test(hostWords(answer.body))) return;
    throw this.api.refusal('react', answer);
  }

  async changeLabels(
    subject: ForgeSubject,
    { add, remove }: { add: string[]; remove: string[] },
  ): Promise<void> {
    // GitLab’s labels have no commas, which separate them here.
    if ([...add, ...remove].some((label) => label.includes(',')))
      throw new AppError('rejected', `${this.host} has no labels with a comma. Use another name.`);
    const body = {
      ...(add.length > 0 && { add_labels: add.join(',') }),
      ...(remove.length > 0 && { remove_labels: remove.join(',') }),
    };
    if (Object.keys(body).length === 0) return;
    await this.api.send('change labels', { method: 'PUT', path: this.#subject(subject), body });
  }

  /**
   * A thread for each comment, then the summary as a comment. Called again after a failure, it leaves out the threads that
   * were made.
   */
  async addReview(
    number: number,
    { sha, body, comments }: { sha: string; body: string; comments: NewLineComment[] },
  ): Promise<ForgeSent> {
    const { pull, diffRefs } = await this.#merge(number);
    if (pull.sha !== sha || diffRefs?.head_sha !== sha)
      throw new AppError(
        'rejected',
        `${this.host} cannot review ${number}: its branch is no longer at ${sha.slice(0, 12)}.`,
      );
    const path = this.#mergePath(number);
    const of = { number, isPull: true };
    let last: ForgeSent | undefined;
    if (comments.length > 0) {
      const made = await this.#ownThreads(number);
      const diffs = await this.api.list('read changes', `${path}/diffs`, gitlabDiff, { pages: 10 });
      for (const comment of comments) {
        const position = gitlabPosition(comment, diffRefs, diffs);
        const key = threadKey(position, comment.body);
        if (made.has(key)) continue;
        const call = post(`${path}/discussions`, { body: comment.body, position });
        const shape = z.object({ notes: z.array(sent).min(1) });
        const { notes } = await this.api.write(`comment on a line of ${number}`, call, shape);
        last = this.#sent(of, { id: notes[0]?.id ?? '' });
      }
    }
    return body === '' && last ? last : this.addComment(of, body);
  }

  async reply(number: number, { id }: ForgeThread, body: string): Promise<ForgeSent> {
    const path = `${this.#mergePath(number)}/discussions/${pathPart(id)}/notes`;
    const of = { number, isPull: true };
    return this.#sent(of, await this.api.write('reply', post(path, { body }), sent));
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
    const body = { url, token: secret, ...hookEvents };
    return makeHook(this.api, { id, url, made: body, renewed: body, renewBy: 'PUT' });
  }

  removeHook(id: string): Promise<void> {
    return deleteHook(this.api, id);
  }

  /** The comments that the token’s user began threads with, by `threadKey`. */
  async #ownThreads(number: number): Promise<ReadonlySet<string>> {
    const path = `${this.#mergePath(number)}/discussions`;
    const [self, found] = await Promise.all([
      this.self(),
      this.api.list('read comments', path, gitlabDiscussion, { pages: 5, fromEnd: true }),
    ]);
    return new Set(
      found.flatMap(({ notes: [first] }) =>
        first?.position && first.author?.id === self.id
          ? [threadKey(first.position, first.body)]
          : [],
      ),
    );
  }

  #merge(number: number): Promise<z.output<typeof gitlabMerge>> {
    return this.api.read(`read merge request ${number}`, this.#mergePath(number), gitlabMerge);
  }

  #sent(subject: ForgeSubject, { id }: { id: string }): ForgeSent {
    return { id, url: `${this.#page(subject)}#note_${id}` };
  }

  #page({ number, isPull }: ForgeSubject): string {
    return `${this.api.page}/-/${isPull ? 'merge_requests' : 'issues'}/${number}`;
  }

  #subject({ number, isPull }: ForgeSubject): string {
    return this.api.at(`${isPull ? 'merge_requests' : 'issues'}/${number}`);
  }

  #mergePath(number: number): string {
    return this.#subject({ number, isPull: true });
  }
}

const post = (path: string, body: unknown) => ({ method: 'POST', path, body }) as const;
