import { createHash } from 'node:crypto';
import type {
  PlayedFork,
  PlayedIssue,
  PlayedPull,
  PlayedText,
  PlayedThread,
  PlayedUser,
} from './forge-records.js';
import type { GitlabCommitPayloads } from './gitlab-commit-payloads.js';
import type { PlayedLevel } from './played-levels.js';
import type { RepositoryState } from './repository-state.js';

/** GitLab’s numbers of roles. */
export const gitlabLevels: Record<PlayedLevel, number> = {
  none: 0,
  read: 10,
  triage: 20,
  write: 30,
  maintain: 40,
  admin: 50,
};

/** A note of an issue or a merge request, whatever it came from. */
export interface GitlabNote {
  text: PlayedText;
  issue: PlayedIssue;
  thread: PlayedThread | null;
  /** What GitLab wrote itself. */
  isSystem: boolean;
}

export const discussionId = (id: number): string =>
  createHash('sha1').update(`discussion ${id}`).digest('hex');

/** Draft merge requests are those with such a title. */
export const gitlabDraft = /^\s*(?:\[draft\]|\(draft\)|draft:|draft -)/i;

/** The records of a state as GitLab’s REST API shows them. */
export class GitlabPayloads {
  constructor(
    private readonly state: RepositoryState,
    readonly commits: GitlabCommitPayloads,
  ) {}

  get page(): string {
    return this.commits.page;
  }

  readonly user = (user: PlayedUser) => this.commits.user(user);

  readonly member = (user: PlayedUser) => ({
    ...this.user(user),
    access_level: gitlabLevels[user.level],
    created_at: '2024-01-01T00:00:00.000Z',
    expires_at: null,
    membership_state: 'active',
  });

  readonly project = (fork: PlayedFork | null = null) => {
    const { state } = this;
    const path = fork?.path ?? state.path;
    const id = fork?.id ?? state.id;
    const name = path.split('/').at(-1) ?? '';
    const namespace = path.slice(0, -name.length - 1);
    return {
      id,
      description: null,
      name,
      name_with_namespace: path.replaceAll('/', ' / '),
      path: name,
      path_with_namespace: path,
      created_at: '2024-01-01T00:00:00.000Z',
      default_branch: state.defaultBranch,
      ssh_url_to_repo: `git@host:${path}.git`,
      http_url_to_repo: `${this.commits.site}/${path}.git`,
      web_url: `${this.commits.site}/${path}`,
      namespace: { id: 1, name: namespace, path: namespace, kind: 'group', full_path: namespace },
      visibility: state.options.isPrivate ? 'private' : 'public',
      archived: false,
      empty_repo: false,
      issues_enabled: true,
      merge_requests_enabled: true,
      ...(fork && { forked_from_project: { id: state.id, path_with_namespace: state.path } }),
      permissions: {
        project_access: { access_level: gitlabLevels[state.self.level], notification_level: 3 },
        group_access: null,
      },
    };
  };

  readonly issue = (issue: PlayedIssue) => {
    const { number, id } = issue;
    return {
      id,
      iid: number,
      project_id: this.state.id,
      title: issue.title,
      description: issue.body === '' ? null : issue.body,
      state: issue.isOpen ? 'opened' : 'closed',
      created_at: issue.created,
      updated_at: issue.updated,
      closed_at: issue.closed,
      closed_by: null,
      labels: issue.labels,
      milestone: null,
      assignees: issue.assignees.map(this.user),
      author: this.user(issue.author),
      type: 'ISSUE',
      assignee: issue.assignees[0] ? this.user(issue.assignees[0]) : null,
      user_notes_count: issue.comments.length,
      merge_requests_count: 0,
      upvotes: 0,
      downvotes: 0,
      due_date: null,
      confidential: issue.isConfidential,
      discussion_locked: null,
      issue_type: 'issue',
      web_url: `${this.page}/-/issues/${number}`,
      references: {
        short: `#${number}`,
        relative: `#${number}`,
        full: `${this.state.path}#${number}`,
      },
      moved_to_id: null,
    };
  };

  readonly title = ({ title, pull }: PlayedIssue): string =>
    pull?.isDraft && !gitlabDraft.test(title) ? `Draft: ${title}` : title;

  /** A merge request as in a list. */
  readonly merge = (issue: PlayedPull) => {
    const { pull, number, id } = issue;
    const {
      closed_by: _c,
      type: _t,
      confidential: _f,
      issue_type: _i,
      ...shared
    } = this.issue(issue);
    const state = issue.isOpen ? 'opened' : 'closed';
    return {
      ...shared,
      id,
      title: this.title(issue),
      state: pull.merged ? 'merged' : state,
      closed_at: pull.merged ? null : issue.closed,
      merged_by: pull.merged && this.user(pull.merged.by),
      merge_user: pull.merged && this.user(pull.merged.by),
      merged_at: pull.merged?.at ?? null,
      target_branch: pull.base,
      source_branch: pull.branch,
      reviewers: [],
      source_project_id: this.sourceId(issue),
      target_project_id: this.state.id,
      draft: pull.isDraft,
      imported: false,
      work_in_progress: pull.isDraft,
      merge_when_pipeline_succeeds: false,
      merge_status: 'can_be_merged',
      detailed_merge_status: pull.isDraft ? 'draft_status' : 'mergeable',
      sha: pull.sha,
      merge_commit_sha: pull.merged?.sha ?? null,
      squash_commit_sha: null,
      reference: `!${number}`,
      web_url: `${this.page}/-/merge_requests/${number}`,
      references: {
        short: `!${number}`,
        relative: `!${number}`,
        full: `${this.state.path}!${number}`,
      },
      has_conflicts: false,
      blocking_discussions_resolved: pull.threads.every(({ isResolved }) => isResolved),
    };
  };

  /** A merge request on its own, which shows more. */
  readonly wholeMerge = (issue: PlayedPull) => {
    const { pull } = issue;
    const pipeline = this.commits.pipeline(pull.sha);
    return {
      ...this.merge(issue),
      changes_count: String(this.state.git.files(pull.baseSha, pull.sha).length),
      head_pipeline: pipeline,
      pipeline,
      diff_refs: this.diffRefs(issue),
      merge_error: null,
      first_contribution: false,
      user: { can_merge: gitlabLevels[this.state.self.level] >= gitlabLevels.write },
    };
  };

  /** Null once the fork was deleted. */
  sourceId({ pull }: PlayedPull): number | null {
    if (!pull.fork) return this.state.id;
    return pull.fork.isDeleted ? null : pull.fork.id;
  }

  diffRefs({ pull }: PlayedPull) {
    return { base_sha: pull.baseSha, head_sha: pull.sha, start_sha: pull.baseSha };
  }

  readonly note = ({ text, issue, thread, isSystem }: GitlabNote) => ({
    id: text.id,
    type: thread ? 'DiffNote' : null,
    body: text.body,
    author: this.user(text.author),
    created_at: text.created,
    updated_at: text.updated,
    system: isSystem,
    noteable_id: issue.id,
    noteable_type: issue.pull ? 'MergeRequest' : 'Issue',
    project_id: this.state.id,
    ...(thread &&
      issue.pull && { position: this.position(thread, { ...issue, pull: issue.pull }) }),
    resolvable: thread !== null,
    ...(thread && { resolved: thread.isResolved, resolved_by: null, resolved_at: null }),
    confidential: false,
    internal: false,
    imported: false,
    noteable_iid: issue.number,
    commands_changes: {},
  });

  position({ path, line, side, sha }: PlayedThread, pull: PlayedPull) {
    const other = this.state.linesOf(pull, path, 9999)[side === 'new' ? 'fresh' : 'old'].get(line);
    return {
      base_sha: pull.pull.baseSha,
      start_sha: pull.pull.baseSha,
      head_sha: sha,
      old_path: path,
      new_path: path,
      position_type: 'text',
      old_line: side === 'old' ? line : (other ?? null),
      new_line: side === 'new' ? line : (other ?? null),
      line_range: null,
    };
  }

  readonly discussion = (notes: GitlabNote[]) => ({
    id: discussionId(notes[0]?.thread?.id ?? notes[0]?.text.id ?? 0),
    individual_note: notes[0]?.thread === null,
    notes: notes.map(this.note),
  });

  /** The notes of an issue or a merge request, the oldest first: also those that GitLab wrote itself. */
  notes(issue: PlayedIssue): GitlabNote[] {
    const note = (text: PlayedText): GitlabNote => ({ text, issue, thread: null, isSystem: false });
    const system = this.state.history.flatMap((one): GitlabNote[] => {
      const body = one.issue === issue ? systemWords(one.event, one.assignee) : undefined;
      if (body === undefined) return [];
      const { id, by: author, at } = one;
      const text = { id, author, body, created: at, updated: at, reactions: [] };
      return [{ text, issue, thread: null, isSystem: true }];
    });
    const reviews = issue.pull?.reviews.filter(({ body }) => body !== '') ?? [];
    const lines = (issue.pull?.threads ?? []).flatMap((thread) =>
      thread.comments.map((text) => ({ text, issue, thread, isSystem: false })),
    );
    const all = [...issue.comments.map(note), ...reviews.map(note), ...lines, ...system];
    return all.toSorted((a, b) => a.text.id - b.text.id);
  }
}

function systemWords(event: string, assignee: PlayedUser | undefined): string | undefined {
  if (event === 'assigned') return `assigned to @${assignee?.name ?? ''}`;
  const words: Record<string, string> = {
    edited: 'changed the description',
    closed: 'closed',
    reopened: 'reopened',
    synchronize: 'added 1 commit',
  };
  return words[event];
}
