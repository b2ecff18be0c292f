import type {
  PlayedBefore,
  PlayedFork,
  PlayedIssue,
  PlayedPull,
  PlayedUser,
} from './forge-records.js';
import type { GitlabPayloads } from './gitlab-payloads.js';
import { noCommit, type PlayedCommit } from './played-git.js';
import type { RepositoryState } from './repository-state.js';

/** GitLab’s webhooks write times in a way of their own. */
export const gitlabUtc = (time: string): string =>
  time.replace('T', ' ').replace(/\.\d+Z$/, ' UTC');

/** What GitLab’s webhooks have in common. They show less than the API, and differently. */
export class GitlabHookParts {
  constructor(
    private readonly state: RepositoryState,
    private readonly payloads: GitlabPayloads,
  ) {}

  /** Without a sign that it is a bot. */
  user(user: PlayedUser) {
    const { id, name, username, avatar_url } = this.payloads.user(user);
    return { id, name, username, avatar_url, email: '[REDACTED]' };
  }

  shared(by: PlayedUser) {
    const project = this.project();
    const { name, url, description, homepage } = project;
    return {
      user: this.user(by),
      project,
      repository: { name, url, description, homepage },
    };
  }

  project(fork: PlayedFork | null = null) {
    const project = this.payloads.project(fork);
    const { id, name, web_url, ssh_url_to_repo: ssh, http_url_to_repo: http } = project;
    return {
      id,
      name,
      description: null,
      web_url,
      avatar_url: null,
      git_ssh_url: ssh,
      git_http_url: http,
      namespace: project.namespace.name,
      visibility_level: this.state.options.isPrivate ? 0 : 20,
      path_with_namespace: project.path_with_namespace,
      default_branch: this.state.defaultBranch,
      ci_config_path: null,
      homepage: web_url,
      url: ssh,
      ssh_url: ssh,
      http_url: http,
    };
  }

  labels(names: readonly string[]) {
    return names.map((title) => ({
      id: this.state.labels.find(({ name }) => name === title)?.id ?? 0,
      title,
      color: '#ffffff',
      project_id: this.state.id,
      created_at: '2024-01-01 00:00:00 UTC',
      updated_at: '2024-01-01 00:00:00 UTC',
      template: false,
      description: null,
      type: 'ProjectLabel',
      group_id: null,
    }));
  }

  /** Only those that have some are shown. */
  assigned({ assignees }: PlayedIssue) {
    const shown = assignees.map((user) => this.user(user));
    return shown.length > 0 ? { assignees: shown } : {};
  }

  /** What differs from before, as `previous` and `current`. */
  changes(issue: PlayedIssue, before: PlayedBefore): object {
    const change = (previous: unknown, current: unknown, isChanged: boolean) =>
      isChanged ? { previous, current } : undefined;
    const title = this.payloads.title(issue);
    const users = (list: PlayedUser[]) => list.map((user) => this.user(user));
    const isDraft = issue.pull?.isDraft ?? false;
    const all = {
      updated_at: change(gitlabUtc(issue.created), gitlabUtc(issue.updated), true),
      title: change(before.title, title, before.title !== issue.title),
      description: change(before.body, issue.body, before.body !== issue.body),
      labels: change(
        this.labels(before.labels),
        this.labels(issue.labels),
        before.labels.join() !== issue.labels.join(),
      ),
      assignees: change(
        users(before.assignees),
        users(issue.assignees),
        before.assignees.length !== issue.assignees.length,
      ),
      draft: change(before.isDraft, isDraft, before.isDraft !== isDraft),
    };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  }

  issueAttributes(issue: PlayedIssue) {
    const ids = issue.assignees.map(({ id }) => id);
    return {
      author_id: issue.author.id,
      closed_at: issue.closed && gitlabUtc(issue.closed),
      confidential: issue.isConfidential,
      created_at: gitlabUtc(issue.created),
      description: issue.body,
      discussion_locked: null,
      due_date: null,
      id: issue.id,
      iid: issue.number,
      last_edited_at: null,
      last_edited_by_id: null,
      milestone_id: null,
      moved_to_id: null,
      duplicated_to_id: null,
      project_id: this.state.id,
      relative_position: 0,
      state_id: issue.isOpen ? 1 : 2,
      time_estimate: 0,
      title: issue.title,
      updated_at: gitlabUtc(issue.updated),
      updated_by_id: null,
      type: 'Issue',
      url: `${this.payloads.page}/-/issues/${issue.number}`,
      total_time_spent: 0,
      assignee_ids: ids,
      assignee_id: ids[0] ?? null,
      labels: this.labels(issue.labels),
      state: issue.isOpen ? 'opened' : 'closed',
      severity: 'unknown',
    };
  }

  mergeAttributes(issue: PlayedPull) {
    const { pull } = issue;
    const merge = this.payloads.merge(issue);
    const ids = issue.assignees.map(({ id }) => id);
    const commit = this.state.git.commitAt(pull.sha);
    return {
      assignee_id: ids[0] ?? null,
      author_id: issue.author.id,
      created_at: gitlabUtc(issue.created),
      description: issue.body,
      draft: pull.isDraft,
      head_pipeline_id: this.payloads.commits.pipeline(pull.sha)?.id ?? null,
      id: issue.id,
      iid: issue.number,
      last_edited_at: null,
      last_edited_by_id: null,
      merge_commit_sha: pull.merged?.sha ?? null,
      merge_error: null,
      merge_status: 'can_be_merged',
      merge_user_id: pull.merged?.by.id ?? null,
      milestone_id: null,
      source_branch: pull.branch,
      source_project_id: merge.source_project_id,
      state_id: { opened: 1, closed: 2, merged: 3 }[merge.state] ?? 1,
      target_branch: pull.base,
      target_project_id: this.state.id,
      time_estimate: 0,
      title: merge.title,
      updated_at: gitlabUtc(issue.updated),
      updated_by_id: null,
      prepared_at: gitlabUtc(issue.created),
      assignee_ids: ids,
      blocking_discussions_resolved: merge.blocking_discussions_resolved,
      detailed_merge_status: merge.detailed_merge_status,
      first_contribution: false,
      labels: this.labels(issue.labels),
      last_commit: commit ? this.commit(commit) : null,
      reviewer_ids: [],
      source: pull.fork?.isDeleted ? null : this.project(pull.fork),
      state: merge.state,
      target: this.project(),
      url: merge.web_url,
      work_in_progress: pull.isDraft,
    };
  }

  commit({ id, message, at, author, email }: PlayedCommit) {
    return {
      id,
      message,
      title: message.split('\n')[0],
      timestamp: at,
      url: `${this.payloads.page}/-/commit/${id}`,
      author: { name: author, email },
    };
  }

  pushed(commit: PlayedCommit) {
    const files = this.state.git.files(commit.parents[0] ?? noCommit, commit.id);
    const paths = (letter: string) =>
      files.filter(({ status }) => status === letter).map(({ path }) => path);
    return {
      ...this.commit(commit),
      added: paths('A'),
      modified: paths('M'),
      removed: paths('D'),
    };
  }
}
