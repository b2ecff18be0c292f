import type {
  PlayedEvent,
  PlayedIssue,
  PlayedPull,
  PlayedText,
  PlayedThread,
  PlayedUser,
} from './forge-records.js';
import { isPlayedPull } from './forge-state.js';
import { discussionId, type GitlabPayloads } from './gitlab-payloads.js';
import { gitlabJobStatus, pipelineStatus } from './gitlab-commit-payloads.js';
import { gitlabUtc, type GitlabHookParts } from './gitlab-hook-parts.js';
import { noCommit } from './played-git.js';
import type { RepositoryState } from './repository-state.js';
import type { Webhook } from './webhook-sender.js';

type Of<T extends PlayedEvent['type']> = Extract<PlayedEvent, { type: T }>;

/** What GitLab sends when something happens. */
export class GitlabWebhooks {
  constructor(
    private readonly state: RepositoryState,
    private readonly payloads: GitlabPayloads,
    private readonly parts: GitlabHookParts,
  ) {}

  of(event: PlayedEvent): Webhook[] {
    return this.#bodies(event).map(([name, body]) => ({ event: name, body, headers: {} }));
  }

  #bodies(event: PlayedEvent): [name: string, body: object][] {
    switch (event.type) {
      case 'issue':
        return isPlayedPull(event.issue) ? this.#merge(event, event.issue) : this.#issue(event);
      case 'comment': {
        const action = event.action === 'created' ? 'create' : 'update';
        if (event.action === 'deleted') return [];
        return [this.#note(event.issue, { text: event.comment, by: event.by, action })];
      }
      case 'review':
        return this.#review(event);
      case 'line': {
        const { issue, thread, comment: text, by } = event;
        return [this.#note(issue, { text, thread, by, action: 'create' })];
      }
      case 'checks':
        return this.#pipeline(event);
      case 'push':
        return [this.#push(event)];
      case 'release':
        return [this.#release(event)];
      case 'ping':
        return [];
    }
  }

  #issue({ action, issue, by, before }: Of<'issue'>): [string, object][] {
    const words: Record<string, string> = { opened: 'open', closed: 'close', reopened: 'reopen' };
    // A new issue’s labels are part of its first webhook.
    if (action === 'labeled' && before.labels.length === issue.labels.length) return [];
    const attributes = { ...this.parts.issueAttributes(issue), action: words[action] ?? 'update' };
    const name = issue.isConfidential ? 'Confidential Issue Hook' : 'Issue Hook';
    const event_type = issue.isConfidential ? 'confidential_issue' : 'issue';
    return [
      [
        name,
        {
          object_kind: 'issue',
          event_type,
          ...this.parts.shared(by),
          object_attributes: attributes,
          labels: this.parts.labels(issue.labels),
          changes: action === 'opened' ? {} : this.parts.changes(issue, before),
          ...this.parts.assigned(issue),
        },
      ],
    ];
  }

  #merge({ action, by, before, oldSha }: Of<'issue'>, issue: PlayedPull): [string, object][] {
    const words: Record<string, string> = { opened: 'open', closed: 'close', reopened: 'reopen' };
    if (action === 'labeled' && before.labels.length === issue.labels.length) return [];
    const isMerged = action === 'closed' && issue.pull.merged !== null;
    const attributes = {
      ...this.parts.mergeAttributes(issue),
      action: isMerged ? 'merge' : (words[action] ?? 'update'),
      ...(oldSha !== undefined && { oldrev: oldSha }),
    };
    return [this.#mergeHook(issue, by, { attributes, changes: this.parts.changes(issue, before) })];
  }

  #mergeHook(
    issue: PlayedPull,
    by: PlayedUser,
    { attributes, changes }: { attributes: object; changes: object },
  ): [string, object] {
    return [
      'Merge Request Hook',
      {
        object_kind: 'merge_request',
        event_type: 'merge_request',
        ...this.parts.shared(by),
        object_attributes: attributes,
        labels: this.parts.labels(issue.labels),
        changes,
        ...this.parts.assigned(issue),
      },
    ];
  }

  /** GitLab has no reviews: there are approvals, reviewers’ states, and notes. */
  #review({ issue, review, by }: Of<'review'>): [string, object][] {
    const action = review.verdict === 'approved' ? 'approved' : 'update';
    const attributes = { ...this.parts.mergeAttributes(issue), action };
    const asked = { ...this.parts.user(by), state: 'unreviewed' };
    const states = { previous: [[asked]], current: [[{ ...asked, state: 'requested_changes' }]] };
    const changes = review.verdict === 'changes' ? { reviewers: states } : {};
    const note: [string, object][] =
      review.body === '' ? [] : [this.#note(issue, { text: review, by, action: 'create' })];
    if (review.verdict === 'comment') return note;
    return [this.#mergeHook(issue, by, { attributes, changes }), ...note];
  }

  #note(
    issue: PlayedIssue,
    {
      text,
      thread = null,
      by,
      action,
    }: { text: PlayedText; thread?: PlayedThread | null; by: PlayedUser; action: string },
  ): [string, object] {
    const kind = issue.pull ? 'merge_requests' : 'issues';
    const pull = isPlayedPull(issue) ? issue : undefined;
    const position = thread && pull ? this.payloads.position(thread, pull) : null;
    const { id, body } = text;
    const object_attributes = {
      id,
      attachment: null,
      author_id: text.author.id,
      change_position: position,
      commit_id: null,
      created_at: gitlabUtc(text.created),
      discussion_id: discussionId(thread?.id ?? id),
      internal: false,
      line_code: null,
      note: body,
      noteable_id: issue.id,
      noteable_type: pull ? 'MergeRequest' : 'Issue',
      original_position: position,
      position,
      project_id: this.state.id,
      resolved_at: null,
      resolved_by_id: null,
      st_diff: null,
      system: false,
      type: thread ? 'DiffNote' : null,
      updated_at: gitlabUtc(text.updated),
      description: body,
      url: `${this.payloads.page}/-/${kind}/${issue.number}#note_${id}`,
      action,
    };
    const about = pull
      ? { merge_request: this.parts.mergeAttributes(pull) }
      : { issue: this.parts.issueAttributes(issue) };
    return [
      issue.isConfidential ? 'Confidential Note Hook' : 'Note Hook',
      {
        object_kind: 'note',
        event_type: issue.isConfidential ? 'confidential_note' : 'note',
        project_id: this.state.id,
        ...this.parts.shared(by),
        object_attributes,
        ...about,
      },
    ];
  }

  #pipeline({ sha, branch, changed, all, by }: Of<'checks'>): [string, object][] {
    const jobs = all.filter(({ kind }) => kind === 'run');
    const pipeline = this.payloads.commits.pipeline(sha);
    if (!pipeline || changed.every(({ kind }) => kind === 'status')) return [];
    const commit = this.state.git.commitAt(sha);
    const status = pipelineStatus(jobs);
    const attributes = {
      id: pipeline.id,
      iid: pipeline.iid,
      name: null,
      ref: branch,
      tag: false,
      sha,
      before_sha: noCommit,
      source: 'push',
      status,
      detailed_status: status === 'success' ? 'passed' : status,
      stages: ['test'],
      created_at: gitlabUtc(pipeline.created_at),
      finished_at: status === 'running' ? null : gitlabUtc(pipeline.updated_at),
      duration: 12,
      queued_duration: 1,
      variables: [],
      url: pipeline.web_url,
    };
    const builds = jobs.map(({ id, name, state, created, updated }) => ({
      id,
      stage: 'test',
      name,
      status: gitlabJobStatus(state),
      created_at: gitlabUtc(created),
      started_at: gitlabUtc(created),
      finished_at: state === 'pending' ? null : gitlabUtc(updated),
      duration: 12,
      queued_duration: 1,
      failure_reason: state === 'failed' ? 'script_failure' : null,
      when: 'on_success',
      manual: false,
      allow_failure: false,
      user: this.parts.user(by),
      runner: null,
      artifacts_file: { filename: null, size: null },
      environment: null,
    }));
    const { project } = this.parts.shared(by);
    const body = {
      object_kind: 'pipeline',
      object_attributes: attributes,
      // Null for a pipeline of a branch, even if the branch has a merge request.
      merge_request: null,
      user: this.parts.user(by),
      project,
      commit: commit ? this.parts.commit(commit) : null,
      builds,
    };
    return [['Pipeline Hook', body]];
  }

  #push({ ref, before, after, by }: Of<'push'>): [string, object] {
    const { git, defaultBranch } = this.state;
    const isTag = ref.startsWith('refs/tags/');
    const start = before === noCommit ? git.resolve(defaultBranch) : before;
    const commits = isTag || after === noCommit ? [] : git.commits(start ?? noCommit, after);
    const kind = isTag ? 'tag_push' : 'push';
    const body = {
      object_kind: kind,
      event_name: kind,
      before,
      after,
      ref,
      ref_protected: ref === `refs/heads/${defaultBranch}`,
      checkout_sha: after === noCommit ? null : after,
      message: null,
      user_id: by.id,
      user_name: by.name,
      user_username: by.name,
      user_email: null,
      user_avatar: null,
      project_id: this.state.id,
      project: this.parts.shared(by).project,
      commits: commits.slice(-20).map((one) => this.parts.pushed(one)),
      total_commits_count: commits.length,
      push_options: {},
      repository: this.parts.shared(by).repository,
    };
    return [isTag ? 'Tag Push Hook' : 'Push Hook', body];
  }

  #release({ release, by }: Of<'release'>): [string, object] {
    const { id, tag, title, body, created } = release;
    const commit = this.state.git.commitAt(`refs/tags/${tag}`);
    const shown = {
      id,
      created_at: gitlabUtc(created),
      description: body,
      name: title,
      released_at: gitlabUtc(created),
      tag,
      object_kind: 'release',
      project: this.parts.shared(by).project,
      url: `${this.payloads.page}/-/releases/${tag}`,
      action: 'create',
      assets: { count: 0, links: [], sources: [] },
      commit: commit ? this.parts.commit(commit) : null,
    };
    return ['Release Hook', shown];
  }
}
