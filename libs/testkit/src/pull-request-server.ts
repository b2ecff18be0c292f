import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

interface OpenPullRequest {
  number: number;
  title: string;
  body: string;
  head: string;
  base: string;
  draft: boolean;
  /** Whether the branch belongs to the fork. */
  forked: boolean;
  /** `locked`: GitLab is about to merge it. */
  state: 'open' | 'locked' | 'closed' | 'merged';
  /** The state of its checks; null for none. */
  checks: 'success' | 'failure' | 'pending' | null;
  /** How many runs have passed that GitHub lists before the one of `checks`. */
  passedRuns: number;
}

/** GitLab’s words for the outcomes of checks. */
const pipelines = { success: 'success', failure: 'failed', pending: 'running' };

const completed = (conclusion: string | null) => ({ status: 'completed', conclusion });

const ids = { repository: 7, fork: 8 };

/**
 * How the hosts’ APIs differ apart from pull requests: path, authorization header, and the current
 * user’s name.
 */
const apis = {
  github: {
    prefix: '/api/v3/',
    header: 'authorization',
    scheme: 'Bearer ',
    user: { login: 'ada' },
  },
  gitlab: { prefix: '/api/v4/', header: 'private-token', scheme: '', user: { username: 'ada' } },
  gitea: { prefix: '/api/v1/', header: 'authorization', scheme: 'token ', user: { login: 'ada' } },
};

/**
 * The REST APIs of GitHub, GitLab and Gitea for pull requests, with paths, headers, statuses and
 * fields as in their references. Runs in front of a git server, as the real ones do.
 */
export class PullRequestServer {
  readonly opened: OpenPullRequest[] = [];
  /** The answer to every request, or to those for these paths, if set. */
  failure: { status: number; body: unknown; paths?: RegExp } | undefined;

  constructor(
    readonly kind: 'github' | 'gitlab' | 'gitea',
    /** Pull requests target `repository`, from its own branches or those of `fork`. */
    private readonly options: { repository: string; fork?: string; token: string; page: string },
  ) {}

  /** Returns whether the request is for this API. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const url = new URL(request.url ?? '/', 'http://x');
    const { prefix } = apis[this.kind];
    if (!url.pathname.startsWith(prefix)) return false;
    void text(request).then((body) => {
      const { status, body: answer } = this.#answer(request, {
        path: url.pathname.slice(prefix.length),
        query: url.searchParams,
        body,
      });
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    });
    return true;
  }

  #answer(
    { method, headers }: IncomingMessage,
    { path, query, body }: { path: string; query: URLSearchParams; body: string },
  ): { status: number; body: unknown } {
    const { repository, token } = this.options;
    const { header, scheme, user } = apis[this.kind];
    if (headers[header] !== scheme + token)
      return { status: 401, body: { message: 'Bad credentials' } };
    const failure = this.#failureAt(path);
    if (failure) return failure;
    if (path === 'user') return { status: 200, body: user };
    const project = `projects/${encodeURIComponent(repository)}`;
    const fork = `projects/${encodeURIComponent(this.options.fork ?? '')}`;
    if (path === project) return { status: 200, body: { id: ids.repository } };
    if (path === fork) return { status: 200, body: { id: ids.fork } };
    const list = this.kind === 'gitlab' ? `${project}/merge_requests` : `repos/${repository}/pulls`;
    if (path === list && method === 'POST') return this.#open(JSON.parse(body));
    if (path === `${fork}/merge_requests` && method === 'POST') return this.#openFromFork(body);
    if (path === list)
      return { status: 200, body: this.#find(query).map((one) => this.#shown(one)) };
    const found = this.#checksAt(path, query) ?? this.#requestAt(path, list);
    return found ? { status: 200, body: found } : { status: 404, body: { message: 'Not Found' } };
  }

  #failureAt(path: string): { status: number; body: unknown } | undefined {
    return this.failure?.paths?.test(path) === false ? undefined : this.failure;
  }

  #openFromFork(body: string): { status: number; body: unknown } {
    const wanted = JSON.parse(body) as { target_project_id?: number };
    if (wanted.target_project_id === ids.repository) return this.#open(JSON.parse(body), true);
    return { status: 404, body: { message: 'Not Found' } };
  }

  #requestAt(path: string, list: string): unknown {
    const found = this.#named(path, list) ?? this.#numbered(path, list);
    return found && this.#shown(found);
  }

  #numbered(path: string, list: string): OpenPullRequest | undefined {
    if (!path.startsWith(`${list}/`)) return undefined;
    return this.opened.find(({ number }) => `${list}/${number}` === path);
  }

  /** The statuses of a commit, and at GitHub also the runs of its checks. */
  #checksAt(path: string, query: URLSearchParams): object | undefined {
    const [, number, what] = /\/commits\/0*([1-9]\d*)a+\/(status|check-runs)$/.exec(path) ?? [];
    const found = this.opened.find((one) => String(one.number) === number);
    if (!found) return undefined;
    const { checks, passedRuns } = found;
    if (what === 'status')
      return this.kind === 'github' || checks === null
        ? { state: 'pending', statuses: [] }
        : { state: checks, statuses: [{ status: checks }] };
    const run =
      checks === 'pending' ? { status: 'in_progress', conclusion: null } : completed(checks);
    const passed = Array.from({ length: passedRuns }, () => completed('success'));
    const all = checks === null ? passed : [...passed, run];
    const page = Number(query.get('per_page') ?? 30);
    return { total_count: all.length, check_runs: all.slice(0, page) };
  }

  /** Gitea addresses a pull request by its branches. */
  #named(path: string, list: string): OpenPullRequest | undefined {
    if (this.kind !== 'gitea' || !path.startsWith(`${list}/`)) return undefined;
    const [base, head] = path
      .slice(list.length + 1)
      .split('/')
      .map(decodeURIComponent);
    return this.opened.find((one) => one.base === base && one.head === head);
  }

  #open(body: Record<string, string>, forked = false): { status: number; body: unknown } {
    const isGitLab = this.kind === 'gitlab';
    const { title = '' } = body;
    const wanted = {
      title,
      body: (isGitLab ? body['description'] : body['body']) ?? '',
      head: (isGitLab ? body['source_branch'] : body['head']) ?? '',
      base: (isGitLab ? body['target_branch'] : body['base']) ?? '',
      draft: String(body['draft']) === 'true' || /^(Draft|WIP): /.test(title),
      forked,
    };
    if (wanted.head === '' || wanted.base === '')
      return { status: 422, body: { message: 'Validation Failed' } };
    const other = this.opened.find(
      ({ head, base, forked: isForked }) =>
        head === wanted.head && base === wanted.base && isForked === forked,
    );
    if (other) return this.#taken(other);
    const made: OpenPullRequest = {
      ...wanted,
      number: this.opened.length + 1,
      state: 'open',
      checks: null,
      passedRuns: 0,
    };
    this.opened.push(made);
    return { status: 201, body: this.#shown(made) };
  }

  #taken({ number, head }: OpenPullRequest): { status: number; body: unknown } {
    if (this.kind === 'github') {
      const message = `A pull request already exists for acme:${head}.`;
      const errors = [{ resource: 'PullRequest', code: 'custom', message }];
      return { status: 422, body: { message: 'Validation Failed', errors } };
    }
    return this.kind === 'gitlab'
      ? {
          status: 409,
          body: {
            message: [
              `Another open merge request already exists for this source branch: !${number}`,
            ],
          },
        }
      : { status: 409, body: { message: 'pull request already exists for these targets' } };
  }

  #find(query: URLSearchParams): OpenPullRequest[] {
    const owned = query.get('head') ?? '';
    const own = `${this.options.repository.split('/')[0]}:`;
    // Branches of the repository itself are stored without the owner.
    const head =
      query.get('source_branch') ?? (owned.startsWith(own) ? owned.slice(own.length) : owned);
    const base = query.get('target_branch') ?? query.get('base');
    const isOpen = query.get('state') === (this.kind === 'gitlab' ? 'opened' : 'open');
    return isOpen ? this.opened.filter((one) => one.head === head && one.base === base) : [];
  }

  #shown({ number, title, draft, forked, state, checks }: OpenPullRequest): unknown {
    const { page, repository } = this.options;
    return this.kind === 'gitlab'
      ? {
          id: 900 + number,
          iid: number,
          title,
          draft,
          state: state === 'open' ? 'opened' : state,
          head_pipeline: checks && { status: pipelines[checks] },
          source_project_id: forked ? ids.fork : ids.repository,
          web_url: `${page}/${repository}/-/merge_requests/${number}`,
        }
      : {
          id: 900 + number,
          number,
          title,
          draft,
          state: state === 'merged' ? 'closed' : state,
          merged: state === 'merged',
          head: { sha: `${number}${'a'.repeat(39)}` },
          html_url: `${page}/${repository}/pull/${number}`,
        };
  }
}
