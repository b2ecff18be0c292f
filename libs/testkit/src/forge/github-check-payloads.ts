import type { PlayedCheck } from './forge-records.js';
import {
  githubConclusions,
  githubSeconds,
  githubStatusState,
  type GithubPayloads,
} from './github-payloads.js';
import type { PlayedCommit } from './played-git.js';
import type { RepositoryState } from './repository-state.js';

const actionsApp = {
  id: 15368,
  slug: 'github-actions',
  node_id: 'MDM6QXBwMTUzNjg=',
  owner: { login: 'github', id: 9919, type: 'Organization' },
  name: 'GitHub Actions',
  description: '',
  external_url: 'https://help.github.com/en/actions',
  html_url: 'https://github.com/apps/github-actions',
  created_at: '2018-07-30T09:30:17Z',
  updated_at: '2019-12-10T19:04:12Z',
  permissions: { checks: 'write', contents: 'read' },
  events: [],
};

/** Checks, statuses and commits as GitHub shows them. */
export class GithubCheckPayloads {
  constructor(
    private readonly state: RepositoryState,
    private readonly payloads: GithubPayloads,
  ) {}

  get #repo(): string {
    return `${this.payloads.api}/repos/${this.state.path}`;
  }

  readonly run = (check: PlayedCheck) => ({
    id: check.id,
    name: check.name,
    node_id: Buffer.from(`CheckRun:${check.id}`).toString('base64'),
    head_sha: check.sha,
    external_id: '',
    url: `${this.#repo}/check-runs/${check.id}`,
    html_url: `${this.payloads.site}/${this.state.path}/actions/runs/1/job/${check.id}`,
    details_url: check.url,
    status: check.state === 'pending' ? 'in_progress' : 'completed',
    conclusion: githubConclusions[check.state],
    started_at: githubSeconds(check.created),
    completed_at: check.state === 'pending' ? null : githubSeconds(check.updated),
    output: {
      title: check.summary && check.name,
      summary: check.summary,
      text: null,
      annotations_count: 0,
      annotations_url: `${this.#repo}/check-runs/${check.id}/annotations`,
    },
    check_suite: { id: this.#suiteId(check.sha) },
    app: actionsApp,
    pull_requests: this.#pulls(check.sha),
  });

  readonly suite = (sha: string, branch: string | null) => {
    const runs = this.#runs(sha);
    return {
      id: this.#suiteId(sha),
      node_id: Buffer.from(`CheckSuite:${sha}`).toString('base64'),
      head_branch: branch,
      head_sha: sha,
      status: runs.some(({ state }) => state === 'pending') ? 'in_progress' : 'completed',
      conclusion: conclusionOf(runs),
      url: `${this.#repo}/check-suites/${this.#suiteId(sha)}`,
      before: null,
      after: sha,
      pull_requests: this.#pulls(sha),
      app: actionsApp,
      created_at: githubSeconds(runs[0]?.created ?? this.state.time()),
      updated_at: githubSeconds(runs.at(-1)?.updated ?? this.state.time()),
      latest_check_runs_count: runs.length,
      check_runs_url: `${this.#repo}/check-suites/${this.#suiteId(sha)}/check-runs`,
      head_commit: this.headCommit(sha),
    };
  };

  readonly workflowRun = (sha: string, branch: string | null) => {
    const suite = this.suite(sha, branch);
    const { id, status, conclusion, pull_requests, created_at, updated_at, head_commit } = suite;
    const url = `${this.#repo}/actions/runs/${id}`;
    return {
      id,
      name: 'CI',
      node_id: Buffer.from(`WorkflowRun:${id}`).toString('base64'),
      head_branch: branch,
      head_sha: sha,
      path: '.github/workflows/ci.yml',
      display_title: head_commit?.message ?? '',
      run_number: 1,
      event: 'push',
      status,
      conclusion,
      workflow_id: 1,
      check_suite_id: id,
      url,
      html_url: `${this.payloads.site}/${this.state.path}/actions/runs/${id}`,
      pull_requests,
      created_at,
      updated_at,
      actor: this.payloads.user(this.state.self),
      triggering_actor: this.payloads.user(this.state.self),
      run_attempt: 1,
      run_started_at: created_at,
      jobs_url: `${url}/jobs`,
      logs_url: `${url}/logs`,
      head_commit,
      repository: this.payloads.repository(),
      head_repository: this.payloads.repository(),
    };
  };

  readonly status = (check: PlayedCheck) => ({
    url: `${this.#repo}/statuses/${check.sha}`,
    avatar_url: `${this.payloads.site}/avatars/u/1?v=4`,
    id: check.id,
    node_id: Buffer.from(`Status:${check.id}`).toString('base64'),
    state: githubStatusState(check.state),
    description: check.summary,
    target_url: check.url,
    context: check.name,
    created_at: githubSeconds(check.created),
    updated_at: githubSeconds(check.updated),
  });

  /** The state of all statuses; without any it is “pending”. */
  readonly combined = (sha: string) => {
    const statuses = this.state.checksAt(sha).filter(({ kind }) => kind === 'status');
    const has = (state: PlayedCheck['state']) => statuses.some((one) => one.state === state);
    const isPending = has('pending') || statuses.length === 0;
    return {
      state: has('failed') ? 'failure' : isPending ? 'pending' : 'success',
      statuses: statuses.map(this.status),
      sha,
      total_count: statuses.length,
      repository: this.payloads.repository(),
      commit_url: `${this.#repo}/commits/${sha}`,
      url: `${this.#repo}/commits/${sha}/status`,
    };
  };

  readonly commit = (commit: PlayedCommit) => {
    const signed = { name: commit.author, email: commit.email, date: commit.at };
    const tree = { sha: commit.tree, url: `${this.#repo}/git/trees/${commit.tree}` };
    const known = this.state.users.find(({ name }) => name === commit.author);
    const user = known ? this.payloads.user(known) : null;
    return {
      sha: commit.id,
      node_id: Buffer.from(`Commit:${commit.id}`).toString('base64'),
      commit: {
        author: signed,
        committer: signed,
        message: commit.message,
        tree,
        url: `${this.#repo}/git/commits/${commit.id}`,
        comment_count: 0,
        verification: { verified: false, reason: 'unsigned', signature: null, payload: null },
      },
      url: `${this.#repo}/commits/${commit.id}`,
      html_url: `${this.payloads.site}/${this.state.path}/commit/${commit.id}`,
      author: user,
      committer: user,
      parents: commit.parents.map((sha) => ({ sha, url: `${this.#repo}/commits/${sha}` })),
    };
  };

  /** A commit as webhooks of pushes show it. */
  readonly pushed = (commit: PlayedCommit) => {
    const files = this.state.git.files(commit.parents[0] ?? '0'.repeat(40), commit.id);
    const paths = (letter: string) =>
      files.filter(({ status }) => status === letter).map(({ path }) => path);
    const who = { name: commit.author, email: commit.email, username: commit.author };
    return {
      id: commit.id,
      tree_id: commit.tree,
      distinct: true,
      message: commit.message,
      timestamp: commit.at,
      url: `${this.payloads.site}/${this.state.path}/commit/${commit.id}`,
      author: who,
      committer: who,
      added: paths('A'),
      removed: paths('D'),
      modified: paths('M'),
    };
  };

  headCommit(sha: string) {
    const commit = this.state.git.commitAt(sha);
    if (!commit) return null;
    const { id, tree, message, at, author, email } = commit;
    const who = { name: author, email };
    return { id, tree_id: tree, message, timestamp: at, author: who, committer: who };
  }

  #runs(sha: string): PlayedCheck[] {
    return this.state.checksAt(sha).filter(({ kind }) => kind === 'run');
  }

  #suiteId(sha: string): number {
    return 700_000 + (this.#runs(sha)[0]?.id ?? 0);
  }

  /** The open pull requests of a commit, except those of forks. */
  #pulls(sha: string) {
    const { path, id } = this.state;
    const [, name = ''] = path.split('/');
    const repo = { id, url: this.#repo, name };
    return this.state.pulls
      .filter(({ pull, isOpen }) => isOpen && pull.sha === sha && pull.fork === null)
      .map(({ id: pullId, number, pull }) => ({
        url: `${this.#repo}/pulls/${number}`,
        id: pullId + 500_000,
        number,
        head: { ref: pull.branch, sha: pull.sha, repo },
        base: { ref: pull.base, sha: pull.baseSha, repo },
      }));
  }
}

function conclusionOf(runs: readonly PlayedCheck[]): string | null {
  if (runs.some(({ state }) => state === 'pending')) return null;
  return runs.some(({ state }) => state === 'failed') ? 'failure' : 'success';
}
