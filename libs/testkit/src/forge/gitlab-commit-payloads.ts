import type { PlayedCheck, PlayedRelease, PlayedUser } from './forge-records.js';
import type { PlayedCommit } from './played-git.js';
import type { RepositoryState } from './repository-state.js';

const jobStatuses = {
  pending: 'running',
  passed: 'success',
  failed: 'failed',
  skipped: 'skipped',
} as const;

/** Commits, pipelines and releases as GitLab’s REST API shows them. */
export class GitlabCommitPayloads {
  constructor(
    private readonly state: RepositoryState,
    readonly site: string,
  ) {}

  get page(): string {
    return `${this.site}/${this.state.path}`;
  }

  readonly user = (user: PlayedUser) => {
    const { id, name, isBlocked } = user.isDeleted ? { ...user, id: 2, name: 'ghost' } : user;
    return {
      id,
      username: name,
      public_email: '',
      name,
      state: isBlocked ? 'blocked' : 'active',
      locked: false,
      avatar_url: `${this.site}/uploads/-/system/user/avatar/${id}/avatar.png`,
      web_url: `${this.site}/${name}`,
    };
  };

  /** The pipeline of a commit; null for a commit without one. */
  readonly pipeline = (sha: string) => {
    const jobs = this.jobs(sha);
    const [first] = jobs;
    if (!first) return null;
    const id = 800_000 + first.id;
    return {
      id,
      iid: first.id,
      project_id: this.state.id,
      sha,
      ref: first.branch ?? sha,
      status: pipelineStatus(jobs),
      source: 'push',
      created_at: first.created,
      updated_at:
        jobs
          .map(({ updated }) => updated)
          .toSorted()
          .at(-1) ?? first.updated,
      web_url: `${this.page}/-/pipelines/${id}`,
      name: null,
    };
  };

  jobs(sha: string): PlayedCheck[] {
    return this.state.checksAt(sha).filter(({ kind }) => kind === 'run');
  }

  readonly job = (check: PlayedCheck) => ({
    id: check.id,
    status: jobStatuses[check.state],
    stage: 'test',
    name: check.name,
    ref: check.branch,
    tag: false,
    coverage: null,
    allow_failure: false,
    created_at: check.created,
    started_at: check.created,
    finished_at: check.state === 'pending' ? null : check.updated,
    duration: 1.5,
    user: this.user(this.state.self),
    failure_reason: check.state === 'failed' ? 'script_failure' : undefined,
    pipeline: this.pipeline(check.sha),
    web_url: `${this.page}/-/jobs/${check.id}`,
  });

  /** Jobs and what other services report, as GitLab lists both for a commit. */
  readonly status = (check: PlayedCheck) => ({
    id: check.id,
    sha: check.sha,
    ref: check.branch,
    status: jobStatuses[check.state],
    name: check.name,
    target_url: check.url ?? `${this.page}/-/jobs/${check.id}`,
    description: check.kind === 'status' ? check.summary : null,
    created_at: check.created,
    started_at: check.created,
    finished_at: check.state === 'pending' ? null : check.updated,
    allow_failure: false,
    coverage: null,
    pipeline_id: this.pipeline(check.sha)?.id ?? null,
    author: this.user(this.state.self),
  });

  readonly commit = ({ id, parents, message, author, email, at }: PlayedCommit) => ({
    id,
    short_id: id.slice(0, 8),
    created_at: at,
    parent_ids: parents,
    title: message.split('\n')[0],
    message,
    author_name: author,
    author_email: email,
    authored_date: at,
    committer_name: author,
    committer_email: email,
    committed_date: at,
    trailers: {},
    web_url: `${this.page}/-/commit/${id}`,
  });

  readonly release = ({ tag, title, body, author, created }: PlayedRelease) => ({
    tag_name: tag,
    name: title,
    description: body,
    created_at: created,
    released_at: created,
    upcoming_release: false,
    author: this.user(author),
    _links: { self: `${this.page}/-/releases/${tag}` },
  });
}

/** A pipeline has failed only when none of its jobs runs any more. */
export function pipelineStatus(jobs: readonly PlayedCheck[]): string {
  const has = (state: PlayedCheck['state']) => jobs.some((one) => one.state === state);
  if (has('pending')) return 'running';
  if (has('failed')) return 'failed';
  return has('passed') ? 'success' : 'skipped';
}

export const gitlabJobStatus = (state: PlayedCheck['state']): string => jobStatuses[state];
