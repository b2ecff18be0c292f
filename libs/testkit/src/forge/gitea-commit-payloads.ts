import type { PlayedCheck } from './forge-records.js';
import { giteaSeconds, type GiteaPayloads } from './gitea-payloads.js';
import { noCommit, type PlayedCommit } from './played-git.js';
import type { RepositoryState } from './repository-state.js';

const statuses = {
  pending: 'pending',
  passed: 'success',
  failed: 'failure',
  skipped: 'skipped',
};

/** Commits and their statuses as Gitea shows them. Its own actions report statuses as other services do. */
export class GiteaCommitPayloads {
  constructor(
    private readonly state: RepositoryState,
    private readonly payloads: GiteaPayloads,
  ) {}

  readonly status = (check: PlayedCheck) => ({
    id: check.id,
    status: statuses[check.state],
    target_url: check.url ?? '',
    description: check.summary ?? '',
    url: `${this.payloads.api}/statuses/${check.sha}`,
    context: check.name,
    creator: this.payloads.user(this.state.self),
    created_at: giteaSeconds(check.created),
    updated_at: giteaSeconds(check.updated),
  });

  /** The state of all statuses; without any it is empty. */
  readonly combined = (sha: string) => {
    const checks = this.state.checksAt(sha);
    const has = (state: PlayedCheck['state']) => checks.some((one) => one.state === state);
    const worst = (['failed', 'pending', 'passed', 'skipped'] as const).find(has);
    return {
      state: worst === undefined ? '' : statuses[worst],
      sha,
      total_count: checks.length,
      statuses: checks.length > 0 ? checks.map(this.status) : null,
      repository: this.payloads.repository(),
      commit_url: `${this.payloads.api}/commits/${sha}`,
      url: `${this.payloads.api}/commits/${sha}/status`,
    };
  };

  readonly commit = (commit: PlayedCommit) => {
    const signed = { name: commit.author, email: commit.email, date: commit.at };
    const known = this.state.users.find(({ name }) => name === commit.author);
    const url = `${this.payloads.api}/git/commits/${commit.id}`;
    return {
      url,
      sha: commit.id,
      created: commit.at,
      html_url: `${this.payloads.page}/commit/${commit.id}`,
      commit: {
        url,
        author: signed,
        committer: signed,
        message: `${commit.message}\n`,
        tree: { url: `${this.payloads.api}/git/trees/${commit.tree}`, sha: commit.tree },
        verification: null,
      },
      author: known ? this.payloads.user(known) : null,
      committer: known ? this.payloads.user(known) : null,
      parents: commit.parents.map((sha) => ({
        url: `${this.payloads.api}/git/commits/${sha}`,
        sha,
      })),
    };
  };

  /** A commit as webhooks show it. */
  readonly pushed = (commit: PlayedCommit) => {
    const files = this.state.git.files(commit.parents[0] ?? noCommit, commit.id);
    const paths = (letter: string) =>
      files.filter(({ status }) => status === letter).map(({ path }) => path);
    const who = { name: commit.author, email: commit.email, username: commit.author };
    return {
      id: commit.id,
      message: `${commit.message}\n`,
      url: `${this.payloads.page}/commit/${commit.id}`,
      author: who,
      committer: who,
      verification: null,
      timestamp: commit.at,
      added: paths('A'),
      removed: paths('D'),
      modified: paths('M'),
    };
  };

  /** A run of Gitea’s actions. */
  run(check: PlayedCheck) {
    const isDone = check.state !== 'pending';
    return {
      id: check.id,
      url: `${this.payloads.api}/actions/runs/${check.id}`,
      html_url: `${this.payloads.page}/actions/runs/${check.id}`,
      display_title: check.name,
      path: 'ci.yml@refs/heads/main',
      event: 'push',
      run_attempt: 1,
      run_number: check.id,
      repository_id: this.state.id,
      head_sha: check.sha,
      head_branch: check.branch,
      status: isDone ? 'completed' : 'in_progress',
      conclusion: isDone ? statuses[check.state] : '',
      started_at: giteaSeconds(check.created),
      completed_at: isDone ? giteaSeconds(check.updated) : '0001-01-01T00:00:00Z',
      actor: this.payloads.user(this.state.self),
      trigger_actor: this.payloads.user(this.state.self),
      repository: this.payloads.repository(),
      head_repository: this.payloads.repository(),
    };
  }

  /** The same run in Forgejo’s own webhooks. */
  forgejoRun(check: PlayedCheck) {
    return {
      id: check.id,
      title: check.name,
      repository: this.payloads.repository(),
      workflow_id: 'ci.yml',
      index_in_repo: check.id,
      trigger_user: this.payloads.user(this.state.self),
      schedule_id: 0,
      approved_by: 0,
      prettyref: check.branch,
      is_ref_deleted: false,
      commit_sha: check.sha,
      is_fork_pull_request: false,
      need_approval: false,
      event: 'push',
      event_payload: '',
      trigger_event: 'push',
      status: statuses[check.state],
      started: giteaSeconds(check.created),
      stopped: giteaSeconds(check.updated),
      created: giteaSeconds(check.created),
      updated: giteaSeconds(check.updated),
      duration: 1_000_000_000,
      html_url: `${this.payloads.page}/actions/runs/${check.id}`,
    };
  }
}
