import { AppError, type ForgeUser } from '@belay/protocol';
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
} from '../forge.js';

/** What `MemoryForge` was asked to change, in order. */
export interface ForgeWrite {
  method:
    'addComment' | 'editComment' | 'editPull' | 'react' | 'changeLabels' | 'addReview' | 'reply';
  number: number;
  body: string | null;
}

/** A repository of a git host in memory: tests set up its contents, and see what was sent to it. */
export class MemoryForge implements Forge {
  readonly kind = 'github';
  readonly levels = new Map<string, ForgeLevel>();
  readonly issues = new Map<number, ForgeIssue>();
  readonly pulls = new Map<number, ForgePull>();
  readonly reviewsOf = new Map<number, ForgeReview[]>();
  readonly threadsOf = new Map<number, ForgeThread[]>();
  readonly checksOf = new Map<string, ForgeCheck[]>();
  /** Comments of issues and pull requests, by number, the oldest first. */
  readonly commentsOf = new Map<number, ForgeText[]>();
  readonly lineComments: NewLineComment[] = [];
  readonly writes: ForgeWrite[] = [];
  readonly user: ForgeUser = { id: '1', name: 'belay', isBot: false };
  /** Called before anything is changed: throws what the host should answer. */
  before: (write: ForgeWrite) => void | Promise<void> = () => {};
  /** Called after a change and before its answer, as when a connection is lost then. */
  after: (write: ForgeWrite) => void | Promise<void> = () => {};
  #ids = 1_000;

  constructor(
    readonly host = 'git.example.com',
    readonly path = 'acme/api',
    readonly defaultBranch = 'main',
  ) {}

  /** Adds an issue, open and without labels unless told otherwise. */
  addIssue(issue: Partial<ForgeIssue> & { number: number }): ForgeIssue {
    const added: ForgeIssue = {
      ...this.#text(issue.body ?? 'It is broken.', null),
      title: 'It breaks',
      labels: [],
      state: 'open',
      isPull: false,
      ...issue,
    };
    this.issues.set(issue.number, added);
    return added;
  }

  /** Adds an open pull request of a branch of this repository unless told otherwise. */
  addPull(pull: Partial<ForgePull> & { number: number; sha: string }): ForgePull {
    const added: ForgePull = {
      ...this.#text(pull.body ?? 'It changes something.', null),
      title: 'A change',
      labels: [],
      state: 'open',
      isPull: true,
      draft: false,
      merged: false,
      branch: 'feature',
      base: this.defaultBranch,
      baseSha: null,
      headRepositoryId: '7',
      ...pull,
    };
    this.pulls.set(pull.number, added);
    return added;
  }

  /** Adds a comment by someone; tests use it for what the server reads. */
  say(number: number, body: string, author: ForgeUser | null): ForgeText {
    const text = this.#text(body, author);
    this.#of(this.commentsOf, number).push(text);
    return text;
  }

  self(): Promise<ForgeUser> {
    return Promise.resolve(this.user);
  }

  repository(): Promise<ForgeRepository> {
    return Promise.resolve({ id: '7', path: this.path, defaultBranch: this.defaultBranch });
  }

  level(user: ForgeUser): Promise<ForgeLevel> {
    return Promise.resolve(this.levels.get(user.id) ?? 'none');
  }

  async issue(number: number): Promise<ForgeIssue> {
    return this.issues.get(number) ?? (await this.pull(number));
  }

  comments(subject: ForgeSubject): Promise<ForgeText[]> {
    return Promise.resolve((this.commentsOf.get(subject.number) ?? []).slice(-200));
  }

  async comment(subject: ForgeSubject, id: string): Promise<ForgeText> {
    return found((await this.comments(subject)).find((comment) => comment.id === id));
  }

  async pull(number: number): Promise<ForgePull> {
    await Promise.resolve();
    return found(this.pulls.get(number));
  }

  pullText(number: number): Promise<ForgePullText> {
    return this.pull(number);
  }

  reviews(number: number): Promise<ForgeReview[]> {
    return Promise.resolve([...(this.reviewsOf.get(number) ?? [])]);
  }

  threads(number: number): Promise<ForgeThread[]> {
    return Promise.resolve(
      (this.threadsOf.get(number) ?? []).map((thread) => ({
        ...thread,
        comments: [...thread.comments],
      })),
    );
  }

  checks(sha: string): Promise<ForgeCheck[]> {
    return Promise.resolve([...(this.checksOf.get(sha) ?? [])]);
  }

  pullsAt(sha: string): Promise<ForgePull[]> {
    const pulls = [...this.pulls.values()];
    return Promise.resolve(pulls.filter((pull) => pull.sha === sha && pull.state === 'open'));
  }

  addComment(subject: ForgeSubject, body: string): Promise<ForgeSent> {
    return this.#write({ method: 'addComment', number: subject.number, body }, () => {
      const { id, url } = this.say(subject.number, body, this.user);
      return { id, url };
    });
  }

  async editComment(subject: ForgeSubject, id: string, body: string): Promise<void> {
    await this.#write({ method: 'editComment', number: subject.number, body }, () => {
      const comments = this.#of(this.commentsOf, subject.number);
      const comment = found(comments.find((each) => each.id === id));
      comment.body = body;
      comment.updated = this.#time();
    });
  }

  async editPull(number: number, change: { title?: string; body?: string }): Promise<void> {
    await this.#write({ method: 'editPull', number, body: change.body ?? null }, () => {
      Object.assign(found(this.pulls.get(number)), change, { updated: this.#time() });
    });
  }

  async react(subject: ForgeSubject, _comment: string | null): Promise<void> {
    await this.#write({ method: 'react', number: subject.number, body: null }, () => {});
  }

  async changeLabels(
    subject: ForgeSubject,
    change: { add: string[]; remove: string[] },
  ): Promise<void> {
    await this.#write({ method: 'changeLabels', number: subject.number, body: null }, () => {
      const issue = found(this.issues.get(subject.number) ?? this.pulls.get(subject.number));
      const kept = issue.labels.filter((label) => !change.remove.includes(label));
      issue.labels = [...new Set([...kept, ...change.add])];
    });
  }

  addReview(
    number: number,
    review: { sha: string; body: string; comments: NewLineComment[] },
  ): Promise<ForgeSent> {
    return this.#write({ method: 'addReview', number, body: review.body }, () => {
      const text = this.#text(review.body, this.user);
      this.#of(this.reviewsOf, number).push({ ...text, verdict: 'comment', sha: review.sha });
      this.lineComments.push(...review.comments);
      return { id: text.id, url: text.url };
    });
  }

  reply(number: number, thread: ForgeThread, body: string): Promise<ForgeSent> {
    return this.#write({ method: 'reply', number, body }, () => {
      const threads = this.threadsOf.get(number) ?? [];
      const text = this.#text(body, this.user);
      found(threads.find((each) => each.id === thread.id)).comments.push(text);
      return { id: text.id, url: text.url };
    });
  }

  setHook(hook: { id: string | null }): Promise<string> {
    return Promise.resolve(hook.id ?? this.#id());
  }

  removeHook(_id: string): Promise<void> {
    return Promise.resolve();
  }

  async #write<R>(write: ForgeWrite, change: () => R): Promise<R> {
    await this.before(write);
    const result = change();
    this.writes.push(write);
    await this.after(write);
    return result;
  }

  #text(body: string, author: ForgeUser | null): ForgeText {
    const id = this.#id();
    return { id, author, body, updated: this.#time(), url: `https://${this.host}/text/${id}` };
  }

  #of<T>(lists: Map<number, T[]>, number: number): T[] {
    const list = lists.get(number) ?? [];
    lists.set(number, list);
    return list;
  }

  #id(): string {
    return String(++this.#ids);
  }

  /** Later with each text. */
  #time(): string {
    return new Date(Date.UTC(2026, 0, 1) + this.#ids * 1_000).toISOString();
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new AppError('not_found', 'The git host does not have it.');
  return value;
}
