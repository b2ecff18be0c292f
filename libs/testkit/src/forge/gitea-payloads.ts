import type {
  PlayedFork,
  PlayedHistory,
  PlayedIssue,
  PlayedLineComment,
  PlayedPull,
  PlayedRelease,
  PlayedReview,
  PlayedText,
  PlayedThread,
  PlayedUser,
} from './forge-records.js';
import type { PlayedLevel } from './played-levels.js';
import type { RepositoryState } from './repository-state.js';

/** Gitea shows whole seconds. */
export const giteaSeconds = (time: string): string => time.replace(/\.\d+Z$/, 'Z');
const secondsOrNull = (time: string | null): string | null => time && giteaSeconds(time);

const verdicts = { approved: 'APPROVED', changes: 'REQUEST_CHANGES', comment: 'COMMENT' };

/** Gitea has fewer levels than the other hosts. */
export const giteaLevels: Record<PlayedLevel, string> = {
  none: 'none',
  read: 'read',
  triage: 'read',
  write: 'write',
  maintain: 'write',
  admin: 'admin',
};

/** Drafts are pull requests with such a title. */
export const giteaDraft = /^\s*(?:WIP:|\[WIP\])/i;

/** The records of a state as Gitea’s and Forgejo’s REST API and webhooks show them. */
export class GiteaPayloads {
  constructor(
    private readonly state: RepositoryState,
    readonly site: string,
  ) {}

  get page(): string {
    return `${this.site}/${this.state.path}`;
  }

  get api(): string {
    return `${this.site}/api/v1/repos/${this.state.path}`;
  }

  /** Nothing shows whether it is a bot. */
  readonly user = (user: PlayedUser) => {
    const { id, name } = user.isDeleted ? { id: -1, name: 'Ghost' } : user;
    return {
      id,
      login: name,
      login_name: '',
      source_id: 0,
      full_name: '',
      email: `${name}@noreply.example.com`,
      avatar_url: `${this.site}/avatars/${id}`,
      html_url: `${this.site}/${name}`,
      language: '',
      is_admin: false,
      last_login: '0001-01-01T00:00:00Z',
      created: '2024-01-01T00:00:00Z',
      restricted: false,
      active: !user.isBlocked,
      prohibit_login: user.isBlocked,
      location: '',
      website: '',
      description: '',
      visibility: 'public',
      followers_count: 0,
      following_count: 0,
      starred_repos_count: 0,
      username: name,
    };
  };

  readonly permission = (user: PlayedUser) => {
    const isPublic = !this.state.options.isPrivate;
    const level = giteaLevels[user.level === 'none' && isPublic ? 'read' : user.level];
    return { permission: level, role_name: level, user: this.user(user) };
  };

  readonly repository = (fork: PlayedFork | null = null) => {
    const { state } = this;
    const path = fork?.path ?? state.path;
    const [owner = '', name = ''] = path.split('/');
    const { level } = state.self;
    const shownOwner = fork?.owner ?? { ...state.self, id: 1, name: owner };
    return {
      id: fork?.id ?? state.id,
      owner: this.user(shownOwner),
      name,
      full_name: path,
      description: '',
      empty: false,
      private: state.options.isPrivate,
      fork: fork !== null,
      template: false,
      mirror: false,
      size: 24,
      url: `${this.site}/api/v1/repos/${path}`,
      html_url: `${this.site}/${path}`,
      ssh_url: `git@host:${path}.git`,
      clone_url: `${this.site}/${path}.git`,
      original_url: '',
      default_branch: state.defaultBranch,
      archived: false,
      created_at: '2024-01-01T00:00:00Z',
      updated_at: '2024-01-01T00:00:00Z',
      permissions: {
        admin: level === 'admin',
        push: ['write', 'maintain', 'admin'].includes(level),
        pull: true,
      },
      has_issues: true,
      has_pull_requests: true,
      internal: false,
      object_format_name: 'sha1',
    };
  };

  readonly label = (name: string) => {
    const id = this.state.labels.find((one) => one.name === name)?.id ?? 0;
    return {
      id,
      name,
      exclusive: false,
      is_archived: false,
      color: 'ededed',
      description: '',
      url: `${this.api}/labels/${id}`,
    };
  };

  readonly issue = (issue: PlayedIssue) => {
    const { number, pull } = issue;
    const kind = pull ? 'pulls' : 'issues';
    return {
      id: issue.id,
      url: `${this.api}/issues/${number}`,
      html_url: `${this.page}/${kind}/${number}`,
      number,
      user: this.user(issue.author),
      original_author: '',
      original_author_id: 0,
      title: this.title(issue),
      body: issue.body,
      ref: '',
      assets: [],
      labels: issue.labels.map(this.label),
      milestone: null,
      assignee: issue.assignees[0] ? this.user(issue.assignees[0]) : null,
      assignees: issue.assignees.length > 0 ? issue.assignees.map(this.user) : null,
      state: issue.isOpen ? 'open' : 'closed',
      is_locked: false,
      comments: issue.comments.length,
      created_at: giteaSeconds(issue.created),
      updated_at: giteaSeconds(issue.updated),
      closed_at: secondsOrNull(issue.closed),
      due_date: null,
      pull_request: pull && {
        merged: pull.merged !== null,
        merged_at: secondsOrNull(pull.merged?.at ?? null),
        draft: pull.isDraft,
        html_url: `${this.page}/pulls/${number}`,
      },
      repository: {
        id: this.state.id,
        name: this.state.path.split('/')[1],
        owner: this.state.path.split('/')[0],
        full_name: this.state.path,
      },
      pin_order: 0,
    };
  };

  readonly title = ({ title, pull }: PlayedIssue): string =>
    pull?.isDraft && !giteaDraft.test(title) ? `WIP: ${title}` : title;

  readonly comment = (issue: PlayedIssue, comment: PlayedText) => {
    const kind = issue.pull ? 'pulls' : 'issues';
    const page = `${this.page}/${kind}/${issue.number}`;
    return {
      id: comment.id,
      html_url: `${page}#issuecomment-${comment.id}`,
      // One of the two is empty.
      pull_request_url: issue.pull ? page : '',
      issue_url: issue.pull ? '' : page,
      user: this.user(comment.author),
      original_author: '',
      original_author_id: 0,
      body: comment.body,
      assets: [],
      created_at: giteaSeconds(comment.created),
      updated_at: giteaSeconds(comment.updated),
    };
  };

  readonly pull = (issue: PlayedPull) => {
    const { pull, number } = issue;
    const {
      repository: _r,
      pull_request: _p,
      pin_order: _o,
      ref: _f,
      ...shared
    } = this.issue(issue);
    const page = `${this.page}/pulls/${number}`;
    return {
      ...shared,
      url: page,
      draft: pull.isDraft,
      requested_reviewers: null,
      review_comments: pull.threads.flatMap(({ comments }) => comments).length,
      html_url: page,
      diff_url: `${page}.diff`,
      patch_url: `${page}.patch`,
      mergeable: pull.merged === null,
      merged: pull.merged !== null,
      merged_at: secondsOrNull(pull.merged?.at ?? null),
      merge_commit_sha: pull.merged?.sha ?? null,
      merged_by: pull.merged && this.user(pull.merged.by),
      allow_maintainer_edit: false,
      ...this.#ends(issue),
      merge_base: pull.baseSha,
    };
  };

  readonly review = (issue: PlayedPull, review: PlayedReview) => {
    const page = `${this.page}/pulls/${issue.number}`;
    const lines = issue.pull.threads.flatMap(({ comments }) => comments);
    return {
      id: review.id,
      user: this.user(review.author),
      team: null,
      state: verdicts[review.verdict],
      body: review.body,
      commit_id: review.sha,
      stale: review.sha !== issue.pull.sha,
      official: giteaLevels[review.author.level] !== 'none',
      dismissed: false,
      comments_count: lines.filter((one) => one.review === review.id).length,
      submitted_at: giteaSeconds(review.created),
      updated_at: giteaSeconds(review.updated),
      html_url: `${page}#issuecomment-${review.id}`,
      pull_request_url: page,
    };
  };

  readonly line = (issue: PlayedPull, thread: PlayedThread, comment: PlayedLineComment) => {
    const page = `${this.page}/pulls/${issue.number}`;
    const patch = this.state.git.patch(issue.pull.baseSha, thread.sha, thread.path);
    return {
      id: comment.id,
      body: comment.body,
      user: this.user(comment.author),
      resolver: thread.isResolved ? this.user(this.state.self) : null,
      pull_request_review_id: comment.review,
      created_at: giteaSeconds(comment.created),
      updated_at: giteaSeconds(comment.updated),
      path: thread.path,
      commit_id: issue.pull.sha,
      original_commit_id: thread.sha,
      diff_hunk: patch.split('\n').slice(0, 5).join('\n'),
      // Numbers of lines; the other one is 0.
      position: thread.side === 'new' ? thread.line : 0,
      original_position: thread.side === 'old' ? thread.line : 0,
      html_url: `${page}#issuecomment-${comment.id}`,
      pull_request_url: page,
    };
  };

  /** An entry of an issue’s timeline. A label that was added has the body “1”, one that was removed none. */
  readonly entry = ({ id, event, by, label, assignee, at, issue }: PlayedHistory) => {
    const words: Record<string, string> = {
      labeled: 'label',
      unlabeled: 'label',
      assigned: 'assignees',
      closed: 'close',
      reopened: 'reopen',
      synchronize: 'pull_push',
      edited: 'change_title',
    };
    const kind = issue.pull ? 'pulls' : 'issues';
    return {
      id,
      type: words[event] ?? event,
      html_url: `${this.page}/${kind}/${issue.number}#issuecomment-${id}`,
      pull_request_url: '',
      issue_url: '',
      user: this.user(by),
      body: event === 'labeled' ? '1' : '',
      created_at: giteaSeconds(at),
      updated_at: giteaSeconds(at),
      old_title: '',
      new_title: '',
      label: label === undefined ? null : this.label(label),
      assignee: assignee ? this.user(assignee) : null,
      removed_assignee: false,
      resolve_doer: null,
    };
  };

  readonly release = (release: PlayedRelease) => ({
    id: release.id,
    tag_name: release.tag,
    target_commitish: this.state.defaultBranch,
    name: release.title,
    body: release.body,
    url: `${this.api}/releases/${release.id}`,
    html_url: `${this.page}/releases/tag/${encodeURIComponent(release.tag)}`,
    draft: release.isDraft,
    prerelease: release.isPrerelease,
    created_at: giteaSeconds(release.created),
    published_at: giteaSeconds(release.created),
    author: this.user(release.author),
    assets: [],
  });

  /** Both branches. That of a deleted fork is one of the repository’s own refs. */
  #ends({ pull, number }: PlayedPull) {
    const { fork, branch } = pull;
    return {
      base: {
        label: pull.base,
        ref: pull.base,
        sha: this.state.git.resolve(`refs/heads/${pull.base}`) ?? pull.baseSha,
        repo_id: this.state.id,
        repo: this.repository(),
      },
      head: {
        label: fork ? `${fork.owner.name}:${branch}` : branch,
        ref: fork?.isDeleted ? `refs/pull/${number}/head` : branch,
        sha: pull.sha,
        repo_id: fork?.isDeleted ? -1 : (fork?.id ?? this.state.id),
        repo: fork?.isDeleted ? null : this.repository(fork),
      },
    };
  }
}
