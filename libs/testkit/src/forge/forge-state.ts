import type {
  PlayedBefore,
  PlayedEvent,
  PlayedHistory,
  PlayedIssue,
  PlayedKind,
  PlayedPull,
  PlayedText,
  PlayedUser,
} from './forge-records.js';
import type { PlayedLevel } from './played-levels.js';
import { PlayedGit } from './played-git.js';

/** A user of the played host, or the name of one. */
export type Who = PlayedUser | string;

/**
 * The users, issues and comments of one repository at a played host. Each method is what a user does there: it changes the
 * state and tells `onEvent`, which sends the webhooks.
 */
export class ForgeState {
  readonly id: number;
  /** The user of the token. */
  readonly self: PlayedUser;
  readonly users: PlayedUser[] = [];
  readonly issues: PlayedIssue[] = [];
  readonly history: PlayedHistory[] = [];
  /** The labels of the repository, in the order of their creation. */
  readonly labels: { id: number; name: string }[] = [];
  readonly defaultBranch = 'main';
  /** Earlier paths of the repository, which redirect. */
  readonly renamed: string[] = [];
  /** Milliseconds since 1970; a test may set its own. */
  now: () => number = Date.now;
  onEvent: (event: PlayedEvent) => void = () => undefined;
  #last = 0;

  constructor(
    readonly kind: PlayedKind,
    readonly git: PlayedGit,
    readonly options: { path: string; isPrivate: boolean; selfLevel: PlayedLevel },
  ) {
    this.path = options.path;
    this.id = this.nextId();
    this.self = this.addUser('belay-bot', { level: options.selfLevel });
  }

  /** Where the repository is; `rename` changes it. */
  path: string;

  nextId(): number {
    this.#last += 1;
    return this.#last + 1000;
  }

  time(): string {
    return new Date(this.now()).toISOString();
  }

  /** Moves the repository; its old path redirects, as renamed ones do. */
  rename(path: string): void {
    this.git.alias(path);
    this.renamed.push(this.path);
    this.path = path;
  }

  addUser(
    name: string,
    options: Partial<Pick<PlayedUser, 'level' | 'kind' | 'isPrivate'>> = {},
  ): PlayedUser {
    const { level = 'none', kind = 'person', isPrivate = false } = options;
    const user = { id: this.nextId(), name, kind, level, isPrivate };
    this.users.push({ ...user, isBlocked: false, isDeleted: false });
    return this.who(name);
  }

  who(who: Who): PlayedUser {
    if (typeof who !== 'string') return who;
    const found = this.users.find(({ name, isDeleted }) => name === who && !isDeleted);
    if (found) return found;
    throw new Error(`There is no user ${who}. Add one with addUser.`);
  }

  openIssue(options: {
    by: Who;
    title: string;
    body?: string;
    labels?: string[];
    isConfidential?: boolean;
  }): PlayedIssue {
    const { by, labels = [], isConfidential = false } = options;
    const issue = this.newIssue({ ...options, by: this.who(by) });
    Object.assign(issue, { labels: labels.map((name) => this.labelNamed(name)), isConfidential });
    this.changed(issue, 'opened', { by });
    for (const label of issue.labels) this.changed(issue, 'labeled', { by, label });
    return issue;
  }

  editIssue(
    issue: PlayedIssue,
    { by, title = issue.title, body = issue.body }: { by: Who; title?: string; body?: string },
  ): void {
    const before = beforeOf(issue);
    Object.assign(issue, { title, body });
    this.changed(issue, 'edited', { by, before });
  }

  label(issue: PlayedIssue, label: string, { by }: { by: Who }): void {
    const before = beforeOf(issue);
    const name = this.labelNamed(label);
    if (issue.labels.includes(name)) return;
    issue.labels = [...issue.labels, name];
    this.changed(issue, 'labeled', { by, label: name, before });
  }

  unlabel(issue: PlayedIssue, label: string, { by }: { by: Who }): void {
    const before = beforeOf(issue);
    issue.labels = issue.labels.filter((one) => one !== label);
    if (issue.labels.length < before.labels.length)
      this.changed(issue, 'unlabeled', { by, label, before });
  }

  assign(issue: PlayedIssue, assignee: Who, { by }: { by: Who }): void {
    const before = beforeOf(issue);
    issue.assignees = [...issue.assignees, this.who(assignee)];
    this.changed(issue, 'assigned', { by, assignee: this.who(assignee), before });
  }

  setOpen(issue: PlayedIssue, isOpen: boolean, { by }: { by: Who }): void {
    const before = beforeOf(issue);
    Object.assign(issue, { isOpen, closed: isOpen ? null : this.time() });
    this.changed(issue, isOpen ? 'reopened' : 'closed', { by, before });
  }

  comment(issue: PlayedIssue, body: string, { by }: { by: Who }): PlayedText {
    const comment = this.newText(body, by);
    issue.comments.push(comment);
    issue.updated = comment.created;
    this.onEvent({ type: 'comment', action: 'created', issue, comment, by: comment.author });
    return comment;
  }

  editComment(comment: PlayedText, body: string, { by }: { by: Who }): void {
    const issue = this.issues.find(({ comments }) => comments.includes(comment));
    const oldBody = comment.body;
    Object.assign(comment, { body, updated: this.time() });
    if (issue)
      this.onEvent({
        type: 'comment',
        action: 'edited',
        issue,
        comment,
        by: this.who(by),
        oldBody,
      });
  }

  deleteComment(comment: PlayedText, { by }: { by: Who }): void {
    const issue = this.issues.find(({ comments }) => comments.includes(comment));
    if (!issue) return;
    issue.comments = issue.comments.filter((one) => one !== comment);
    this.onEvent({ type: 'comment', action: 'deleted', issue, comment, by: this.who(by) });
  }

  /** Returns whether the reaction is new. */
  react(text: PlayedText, content: string, { by }: { by: Who }): boolean {
    const user = this.who(by);
    if (text.reactions.some((one) => one.user === user && one.content === content)) return false;
    text.reactions.push({ id: this.nextId(), user, content, created: this.time() });
    return true;
  }

  /** The issue or pull request with this number. GitLab counts the two apart. */
  numbered(number: number, what: 'issue' | 'pull' | 'any' = 'any'): PlayedIssue | undefined {
    const fits = ({ pull }: PlayedIssue) => what === 'any' || (pull !== null) === (what === 'pull');
    return this.issues.find((one) => one.number === number && fits(one));
  }

  labelNamed(name: string): string {
    const found = this.labels.find((one) => one.name.toLowerCase() === name.toLowerCase());
    if (!found) this.labels.push({ id: this.nextId(), name });
    return found?.name ?? name;
  }

  newText(body: string, by: Who): PlayedText {
    const time = this.time();
    const author = this.who(by);
    return { id: this.nextId(), author, body, created: time, updated: time, reactions: [] };
  }

  newIssue({
    title,
    body = '',
    by,
    pull = null,
  }: {
    title: string;
    body?: string;
    by: Who;
    pull?: PlayedPull['pull'] | null;
  }): PlayedIssue {
    const same = (one: PlayedIssue) =>
      this.kind !== 'gitlab' || (one.pull === null) === (pull === null);
    const issue: PlayedIssue = {
      ...this.newText(body, by),
      number: this.issues.filter(same).length + 1,
      title,
      labels: [],
      assignees: [],
      isOpen: true,
      isConfidential: false,
      closed: null,
      comments: [],
      pull,
    };
    this.issues.push(issue);
    return issue;
  }

  /** Keeps what happened and tells the hooks. */
  changed(
    issue: PlayedIssue,
    action: PlayedHistory['event'],
    more: {
      by: Who;
      before?: PlayedBefore;
      label?: string;
      assignee?: PlayedUser;
      oldSha?: string;
    },
  ): void {
    const by = this.who(more.by);
    const { label, assignee, before = beforeOf(issue) } = more;
    const at = this.time();
    issue.updated = at;
    this.history.push({ id: this.nextId(), issue, event: action, by, label, assignee, at });
    this.onEvent({ type: 'issue', action, issue, ...more, by, before });
  }
}

export const beforeOf = ({ title, body, labels, assignees, pull }: PlayedIssue): PlayedBefore => ({
  title,
  body,
  labels,
  assignees,
  isDraft: pull?.isDraft ?? false,
});

export const isPlayedPull = (issue: PlayedIssue | undefined): issue is PlayedPull =>
  Boolean(issue?.pull);
