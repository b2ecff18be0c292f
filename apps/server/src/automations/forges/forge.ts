import type { ForgeUser } from '@belay/protocol';

/** Permissions on a repository, the lowest first, whatever the host calls them. */
export const forgeLevels = ['none', 'read', 'triage', 'write', 'maintain', 'admin'] as const;
export type ForgeLevel = (typeof forgeLevels)[number];

/** Whether one permission includes another. */
export const hasLevel = (level: ForgeLevel, needed: ForgeLevel): boolean =>
  forgeLevels.indexOf(level) >= forgeLevels.indexOf(needed);

export interface ForgeRepository {
  /** The host’s own id. */
  id: string;
  path: string;
  defaultBranch: string;
}

/** A text on a host, as it is now. */
export interface ForgeText {
  id: string;
  author: ForgeUser | null;
  body: string;
  /** Changes with each edit. */
  updated: string;
  /** The address of its page. */
  url: string | null;
}

export interface ForgeIssue extends ForgeText {
  number: number;
  title: string;
  labels: string[];
  state: 'open' | 'closed';
  isPull: boolean;
}

export interface ForgePull extends ForgeIssue {
  draft: boolean;
  merged: boolean;
  sha: string;
  branch: string;
  base: string;
  /** The commit of the base branch, if the host says it. */
  baseSha: string | null;
  /** The repository of the branch; null if it was deleted. Another id than the repository’s own means a fork. */
  headRepositoryId: string | null;
}

/** The title and text of a pull request as they are, not cut: what is left out of an edit would be lost. */
export type ForgePullText = Pick<ForgePull, 'title' | 'body' | 'author' | 'url'>;

/** A thread of a review on lines. */
export interface ForgeThread {
  id: string;
  path: string;
  /** In the new file; null for a line that is outdated or was removed. */
  line: number | null;
  resolved: boolean;
  comments: ForgeText[];
}

export interface ForgeReview extends ForgeText {
  verdict: 'approved' | 'changes' | 'comment';
  sha: string | null;
}

export interface ForgeCheck {
  name: string;
  state: 'passed' | 'failed' | 'pending' | 'skipped';
  url: string | null;
  /** What it says about itself: of strangers if the branch is a fork’s. */
  summary: string | null;
}

/** A comment on a line of a pull request’s change. */
export interface NewLineComment {
  path: string;
  /** In the new file for `new`, in the old one for `old`. */
  line: number;
  side: 'new' | 'old';
  body: string;
}

/** What was sent: the host’s id, and the address of its page if it says one. */
export interface ForgeSent {
  id: string;
  url: string | null;
}

/** What a reaction, a label or a comment is about. */
export interface ForgeSubject {
  number: number;
  isPull: boolean;
}

/**
 * One repository at its git host, with the server’s token for it. All methods throw an `AppError` with one sentence:
 * `not_found` for what does not exist, `forbidden` for what the token may not, `rejected` for what the host refuses,
 * `limit_reached` with `retryAfterMs` while the host wants no requests, `unavailable` and `timeout` otherwise.
 */
export interface Forge {
  readonly kind: 'github' | 'gitlab' | 'gitea';
  readonly host: string;
  readonly path: string;

  self(): Promise<ForgeUser>;
  repository(): Promise<ForgeRepository>;
  /** `none` for whoever has no permission. Throws `forbidden` if the token may not ask. */
  level(user: ForgeUser): Promise<ForgeLevel>;

  issue(number: number): Promise<ForgeIssue>;
  /** At most 200, the newest. */
  comments(subject: ForgeSubject): Promise<ForgeText[]>;
  comment(subject: ForgeSubject, id: string): Promise<ForgeText>;
  pull(number: number): Promise<ForgePull>;
  pullText(number: number): Promise<ForgePullText>;
  reviews(number: number): Promise<ForgeReview[]>;
  threads(number: number): Promise<ForgeThread[]>;
  checks(sha: string): Promise<ForgeCheck[]>;
  /** Open pull requests whose branch is at this commit. */
  pullsAt(sha: string): Promise<ForgePull[]>;

  addComment(subject: ForgeSubject, body: string): Promise<ForgeSent>;
  editComment(subject: ForgeSubject, id: string, body: string): Promise<void>;
  /** Changes only what is given. Another edit since the text was read is lost: no host compares. */
  editPull(number: number, change: { title?: string; body?: string }): Promise<void>;
  /** The same reaction twice is not an error. Reacts to the comment if one is given. */
  react(subject: ForgeSubject, comment: string | null): Promise<void>;
  changeLabels(subject: ForgeSubject, change: { add: string[]; remove: string[] }): Promise<void>;
  /** One review, which never approves. Lines must be part of the change. */
  addReview(
    number: number,
    review: { sha: string; body: string; comments: NewLineComment[] },
  ): Promise<ForgeSent>;
  reply(number: number, thread: ForgeThread, body: string): Promise<ForgeSent>;

  /** Makes or renews the webhook; returns its id. */
  setHook(hook: { id: string | null; url: string; secret: string }): Promise<string>;
  removeHook(id: string): Promise<void>;
}
