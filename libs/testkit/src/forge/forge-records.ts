import type { PlayedLevel } from './played-levels.js';

/** The git hosts that are played. Forgejo is Gitea with more headers. */
export type PlayedKind = 'github' | 'gitlab' | 'gitea';

export interface PlayedUser {
  id: number;
  name: string;
  kind: 'person' | 'bot';
  level: PlayedLevel;
  /** A member whose membership only other members see. */
  isPrivate: boolean;
  /** Whether the account was blocked; its permission is then worth nothing. */
  isBlocked: boolean;
  /** Whether the account was deleted: its texts stay, without an author. */
  isDeleted: boolean;
}

export interface PlayedReaction {
  id: number;
  user: PlayedUser;
  content: string;
  created: string;
}

export interface PlayedText {
  id: number;
  author: PlayedUser;
  body: string;
  /** ISO times with milliseconds. */
  created: string;
  updated: string;
  reactions: PlayedReaction[];
}

export interface PlayedIssue extends PlayedText {
  number: number;
  title: string;
  labels: string[];
  assignees: PlayedUser[];
  isOpen: boolean;
  /** GitLab’s confidential issues. */
  isConfidential: boolean;
  closed: string | null;
  comments: PlayedText[];
  /** Null for an issue. */
  pull: PlayedChange | null;
}

/** What a pull request has beyond an issue. */
export interface PlayedChange {
  branch: string;
  base: string;
  /** The latest commit of the branch. */
  sha: string;
  /** The commit of the base branch that the change was compared with. */
  baseSha: string;
  isDraft: boolean;
  merged: { sha: string; by: PlayedUser; at: string } | null;
  /** Where the branch is; null for the repository itself. */
  fork: PlayedFork | null;
  reviews: PlayedReview[];
  threads: PlayedThread[];
}

export type PlayedPull = PlayedIssue & { pull: PlayedChange };

export interface PlayedFork {
  id: number;
  owner: PlayedUser;
  path: string;
  /** Its bare repository. */
  folder: string;
  isDeleted: boolean;
}

export interface PlayedReview extends PlayedText {
  verdict: 'approved' | 'changes' | 'comment';
  sha: string;
}

export interface PlayedThread {
  id: number;
  path: string;
  /** In the new file or the old one, as of `sha`. */
  line: number;
  side: 'new' | 'old';
  sha: string;
  isResolved: boolean;
  comments: PlayedLineComment[];
}

export interface PlayedLineComment extends PlayedText {
  /** The review that it came with. */
  review: number;
}

export interface PlayedCheck {
  id: number;
  sha: string;
  /** Null for a commit without a branch. */
  branch: string | null;
  name: string;
  state: 'pending' | 'passed' | 'failed' | 'skipped';
  /** `status` is reported by another service, `run` by the host’s own actions. */
  kind: 'run' | 'status';
  url: string | null;
  summary: string | null;
  created: string;
  updated: string;
}

export interface PlayedRelease {
  id: number;
  tag: string;
  title: string;
  body: string;
  author: PlayedUser;
  isDraft: boolean;
  isPrerelease: boolean;
  created: string;
}

/** What happened to an issue or a pull request, for the hosts’ lists of events. */
export interface PlayedHistory {
  id: number;
  issue: PlayedIssue;
  event: PlayedAction;
  by: PlayedUser;
  label?: string | undefined;
  assignee?: PlayedUser | undefined;
  at: string;
}

export type PlayedAction =
  | 'opened'
  | 'edited'
  | 'labeled'
  | 'unlabeled'
  | 'assigned'
  | 'unassigned'
  | 'closed'
  | 'reopened'
  | 'synchronize'
  | 'ready_for_review'
  | 'converted_to_draft';

/** What an issue was before it was changed. */
export interface PlayedBefore {
  title: string;
  body: string;
  labels: string[];
  assignees: PlayedUser[];
  isDraft: boolean;
}

/** Something that a host sends webhooks about. */
export type PlayedEvent =
  | {
      type: 'issue';
      action: PlayedAction;
      issue: PlayedIssue;
      by: PlayedUser;
      before: PlayedBefore;
      label?: string | undefined;
      assignee?: PlayedUser | undefined;
      /** The commit before a `synchronize`. */
      oldSha?: string | undefined;
    }
  | {
      type: 'comment';
      action: 'created' | 'edited' | 'deleted';
      issue: PlayedIssue;
      comment: PlayedText;
      by: PlayedUser;
      oldBody?: string | undefined;
    }
  | { type: 'review'; issue: PlayedPull; review: PlayedReview; by: PlayedUser }
  | {
      type: 'line';
      issue: PlayedPull;
      thread: PlayedThread;
      comment: PlayedLineComment;
      by: PlayedUser;
    }
  | {
      type: 'checks';
      sha: string;
      branch: string | null;
      changed: PlayedCheck[];
      all: PlayedCheck[];
      by: PlayedUser;
    }
  | { type: 'push'; ref: string; before: string; after: string; by: PlayedUser }
  | { type: 'release'; release: PlayedRelease; by: PlayedUser }
  | { type: 'ping'; hook: PlayedHook };

export interface PlayedHook {
  id: number;
  url: string;
  secret: string | null;
  /** GitLab’s newer secret, which signs instead of being sent. */
  signingSecret: string | null;
  /** The host’s own names; `*` for all of GitHub’s. */
  events: string[];
  isActive: boolean;
  /** Whether bodies are sent as a form with one field `payload`, GitHub’s default. */
  isForm: boolean;
  created: string;
}
