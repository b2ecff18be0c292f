import type {
  PlayedCheck,
  PlayedFork,
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
import { githubUser, nodeId } from './github-user.js';
import type { RepositoryState } from './repository-state.js';

/** GitHub shows whole seconds. */
const seconds = (time: string): string => time.replace(/\.\d+Z$/, 'Z');
const secondsOrNull = (time: string | null): string | null => time && seconds(time);

const verdicts = { approved: 'APPROVED', changes: 'CHANGES_REQUESTED', comment: 'COMMENTED' };

const conclusions = { pending: null, passed: 'success', failed: 'failure', skipped: 'skipped' };

const statusStates = {
  pending: 'pending',
  passed: 'success',
  failed: 'failure',
  skipped: 'success',
};

const legacyLevels: Record<PlayedLevel, string> = {
  none: 'none',
  read: 'read',
  triage: 'read',
  write: 'write',
  maintain: 'write',
  admin: 'admin',
};

/** The records of a state as GitHub’s REST API and webhooks show them. */
export class GithubPayloads {
  constructor(
    private readonly state: RepositoryState,
    /** The web address of the host. */
    readonly site: string,
    readonly api: string,
  ) {}

  get #repo(): string {
    return `${this.api}/repos/${this.state.path}`;
  }

  get #page(): string {
    return `${this.site}/${this.state.path}`;
  }

  readonly user = (user: PlayedUser) => githubUser(user, this);

  /** The answer about a user’s permission: the old four words, and the name of the role. */
  readonly permission = (user: PlayedUser) => {
    const { level } = user;
    const isOpen = !this.state.options.isPrivate && user.kind === 'person';
    const role = level === 'none' && isOpen ? 'read' : level;
    return { permission: legacyLevels[role], user: this.user(user), role_name: role };
  };

  readonly repository = (fork: PlayedFork | null = null) => {
    const { state } = this;
    const path = fork?.path ?? state.path;
    const id = fork?.id ?? state.id;
    const [owner = '', name = ''] = path.split('/');
    const url = `${this.api}/repos/${path}`;
    return {
      id,
      node_id: nodeId('Repository', id),
      name,
      full_name: path,
      private: state.options.isPrivate,
      owner: fork ? this.user(fork.owner) : this.#organization(owner),
      html_url: `${this.site}/${path}`,
      description: null,
      fork: fork !== null,
      url,
      hooks_url: `${url}/hooks`,
      issue_events_url: `${url}/issues/events{/number}`,
      issues_url: `${url}/issues{/number}`,
      pulls_url: `${url}/pulls{/number}`,
      statuses_url: `${url}/statuses/{sha}`,
      created_at: '2024-01-01T00:00:00Z',
      updated_at: '2024-01-01T00:00:00Z',
      pushed_at: '2024-01-01T00:00:00Z',
      git_url: `git://${path}.git`,
      ssh_url: `git@host:${path}.git`,
      clone_url: `${this.site}/${path}.git`,
      has_issues: true,
      archived: false,
      disabled: false,
      visibility: state.options.isPrivate ? 'private' : 'public',
      default_branch: state.defaultBranch,
      allow_forking: true,
    };
  };

  /** What a token’s user may do, which only single repositories show. */
  readonly permissions = ({ level }: PlayedUser) => ({
    admin: level === 'admin',
    maintain: ['admin', 'maintain'].includes(level),
    push: ['admin', 'maintain', 'write'].includes(level),
    triage: !['none', 'read'].includes(level),
    pull: true,
  });

  readonly label = (name: string) => {
    const id = this.state.labels.find((one) => one.name === name)?.id ?? 0;
    return {
      id,
      node_id: nodeId('Label', id),
      url: `${this.#repo}/labels/${encodeURIComponent(name)}`,
      name,
      color: 'ededed',
      default: false,
      description: null,
    };
  };

  readonly issue = (issue: PlayedIssue) => {
    const { number, pull, id } = issue;
    const url = `${this.#repo}/issues/${number}`;
    const kind = pull ? 'pull' : 'issues';
    return {
      url,
      repository_url: this.#repo,
      labels_url: `${url}/labels{/name}`,
      comments_url: `${url}/comments`,
      events_url: `${url}/events`,
      html_url: `${this.#page}/${kind}/${number}`,
      id,
      node_id: nodeId('Issue', id),
      number,
      title: issue.title,
      user: this.user(issue.author),
      labels: issue.labels.map(this.label),
      state: issue.isOpen ? 'open' : 'closed',
      locked: false,
      assignee: issue.assignees[0] ? this.user(issue.assignees[0]) : null,
      assignees: issue.assignees.map(this.user),
      milestone: null,
      comments: issue.comments.length,
      created_at: seconds(issue.created),
      updated_at: seconds(issue.updated),
      closed_at: secondsOrNull(issue.closed),
      author_association: this.association(issue.author),
      active_lock_reason: null,
      ...(pull && { draft: pull.isDraft, pull_request: this.#pullLinks(issue) }),
      body: issue.body === '' ? null : issue.body,
      reactions: this.reactions(issue, url),
      timeline_url: `${url}/timeline`,
      performed_via_github_app: null,
      state_reason: issue.isOpen ? null : 'completed',
    };
  };

  readonly comment = (issue: PlayedIssue, comment: PlayedText) => {
    const { id } = comment;
    const url = `${this.#repo}/issues/comments/${id}`;
    const kind = issue.pull ? 'pull' : 'issues';
    return {
      url,
      html_url: `${this.#page}/${kind}/${issue.number}#issuecomment-${id}`,
      issue_url: `${this.#repo}/issues/${issue.number}`,
      id,
      node_id: nodeId('IssueComment', id),
      user: this.user(comment.author),
      created_at: seconds(comment.created),
      updated_at: seconds(comment.updated),
      author_association: this.association(comment.author),
      body: comment.body,
      reactions: this.reactions(comment, url),
      performed_via_github_app: null,
    };
  };

  /** A pull request as in a list. */
  readonly pull = (issue: PlayedPull) => {
    const { pull, number, id } = issue;
    const url = `${this.#repo}/pulls/${number}`;
    const { reactions: _r, pull_request: _p, timeline_url: _t, ...shared } = this.issue(issue);
    const head = pull.fork?.owner.name ?? this.state.path.split('/')[0] ?? '';
    const repo = pull.fork?.isDeleted ? null : this.repository(pull.fork);
    const base = this.repository();
    return {
      ...shared,
      url,
      id: id + 500_000,
      node_id: nodeId('PullRequest', id),
      html_url: `${this.#page}/pull/${number}`,
      diff_url: `${this.#page}/pull/${number}.diff`,
      patch_url: `${this.#page}/pull/${number}.patch`,
      issue_url: `${this.#repo}/issues/${number}`,
      commits_url: `${url}/commits`,
      review_comments_url: `${url}/comments`,
      statuses_url: `${this.#repo}/statuses/${pull.sha}`,
      merged_at: secondsOrNull(pull.merged?.at ?? null),
      merge_commit_sha: pull.merged?.sha ?? null,
      requested_reviewers: [],
      requested_teams: [],
      draft: pull.isDraft,
      head: {
        label: `${head}:${pull.branch}`,
        ref: pull.branch,
        sha: pull.sha,
        user: pull.fork ? this.user(pull.fork.owner) : base.owner,
        repo,
      },
      base: {
        label: `${this.state.path.split('/')[0]}:${pull.base}`,
        ref: pull.base,
        sha: pull.baseSha,
        user: base.owner,
        repo: base,
      },
      auto_merge: null,
    };
  };

  /** A pull request on its own, which shows more. */
  readonly wholePull = (issue: PlayedPull) => {
    const { pull } = issue;
    return {
      ...this.pull(issue),
      merged: pull.merged !== null,
      mergeable: pull.merged ? null : true,
      rebaseable: null,
      mergeable_state: pull.isDraft ? 'draft' : 'clean',
      merged_by: pull.merged && this.user(pull.merged.by),
      comments: issue.comments.length,
      review_comments: pull.threads.flatMap(({ comments }) => comments).length,
      maintainer_can_modify: pull.fork !== null,
      commits: this.state.git.commits(pull.baseSha, pull.sha).length,
      changed_files: this.state.git.files(pull.baseSha, pull.sha).length,
    };
  };

  readonly review = (issue: PlayedPull, review: PlayedReview) => ({
    id: review.id,
    node_id: nodeId('PullRequestReview', review.id),
    user: this.user(review.author),
    body: review.body,
    state: verdicts[review.verdict],
    html_url: `${this.#page}/pull/${issue.number}#pullrequestreview-${review.id}`,
    pull_request_url: `${this.#repo}/pulls/${issue.number}`,
    author_association: this.association(review.author),
    submitted_at: seconds(review.created),
    commit_id: review.sha,
  });

  readonly line = (issue: PlayedPull, thread: PlayedThread, comment: PlayedLineComment) => {
    const { id } = comment;
    const url = `${this.#repo}/pulls/comments/${id}`;
    const line = this.state.lineNow(issue, thread);
    const patch = this.state.git.patch(issue.pull.baseSha, thread.sha, thread.path);
    return {
      url,
      pull_request_review_id: comment.review,
      id,
      node_id: nodeId('PullRequestReviewComment', id),
      diff_hunk: patch.split('\n').slice(0, 5).join('\n'),
      path: thread.path,
      commit_id: issue.pull.sha,
      original_commit_id: thread.sha,
      user: this.user(comment.author),
      body: comment.body,
      created_at: seconds(comment.created),
      updated_at: seconds(comment.updated),
      html_url: `${this.#page}/pull/${issue.number}#discussion_r${id}`,
      pull_request_url: `${this.#repo}/pulls/${issue.number}`,
      author_association: this.association(comment.author),
      reactions: this.reactions(comment, url),
      start_line: null,
      original_start_line: null,
      start_side: null,
      line,
      original_line: thread.line,
      side: thread.side === 'new' ? 'RIGHT' : 'LEFT',
      position: line,
      original_position: thread.line,
      subject_type: 'line',
      ...(id !== thread.id && { in_reply_to_id: thread.id }),
    };
  };

  readonly release = (release: PlayedRelease) => ({
    url: `${this.#repo}/releases/${release.id}`,
    html_url: `${this.#page}/releases/tag/${encodeURIComponent(release.tag)}`,
    id: release.id,
    node_id: nodeId('Release', release.id),
    author: this.user(release.author),
    tag_name: release.tag,
    target_commitish: this.state.defaultBranch,
    name: release.title,
    draft: release.isDraft,
    prerelease: release.isPrerelease,
    created_at: seconds(release.created),
    published_at: seconds(release.created),
    assets: [],
    body: release.body,
  });

  reactions({ reactions }: PlayedText, url: string) {
    const count = (content: string) => reactions.filter((one) => one.content === content).length;
    const names = ['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes'];
    const counts = Object.fromEntries(names.map((name) => [name, count(name)]));
    return { url: `${url}/reactions`, total_count: reactions.length, ...counts };
  }

  /** Says nothing about rights: private members look like anybody. */
  association({ level, isPrivate }: PlayedUser): string {
    if (level === 'none' || level === 'read') return 'NONE';
    if (isPrivate) return 'CONTRIBUTOR';
    return level === 'admin' ? 'MEMBER' : 'COLLABORATOR';
  }

  #organization(name: string) {
    const user = { id: 1, name, kind: 'person', level: 'admin', isPrivate: false } as const;
    const shown = this.user({ ...user, isBlocked: false, isDeleted: false });
    return { ...shown, type: 'Organization' };
  }

  #pullLinks({ number, pull }: PlayedIssue) {
    return {
      url: `${this.#repo}/pulls/${number}`,
      html_url: `${this.#page}/pull/${number}`,
      diff_url: `${this.#page}/pull/${number}.diff`,
      patch_url: `${this.#page}/pull/${number}.patch`,
      merged_at: secondsOrNull(pull?.merged?.at ?? null),
    };
  }
}

export const githubSeconds = seconds;
export const githubConclusions = conclusions;
export const githubStatusState = (state: PlayedCheck['state']): string => statusStates[state];
