import { Injectable } from '@nestjs/common';
import {
  AppError,
  type GitHostKind,
  type PublishedChange,
  type PullRequestStatus,
  webPage,
} from '@belay/protocol';
import { requestStatus } from './request-status.js';
import { z } from 'zod';
import {
  GitHostRequests,
  refusedBy,
  type GitHostAnswer,
  type HostedRepository,
} from '../git/git-host-request.js';
import { repositoryAddress, type RepositoryAddress } from '../git/repository-address.js';

export interface NewPullRequest {
  title: string;
  body: string;
  draft: boolean;
  branch: string;
  base: string;
  /** The target repository on the same host: that of the branch, or the one that it was forked from. */
  into: string;
}

type PullRequest = NonNullable<PublishedChange['pullRequest']>;

/** The parts of the REST APIs of GitHub, GitLab and Gitea that pull requests need. */
@Injectable()
export class GitHostApi {
  constructor(private readonly requests: GitHostRequests) {}

  /** Opens a pull request, or returns the open one for these branches. Throws one sentence. */
  async openPullRequest(hosted: HostedRepository, wanted: NewPullRequest): Promise<PullRequest> {
    const { kind } = hosted.host;
    const api = kind === 'other' ? undefined : apis[kind];
    if (!api || !hosted.remote.credential)
      throw new AppError(
        'invalid_input',
        `${hosted.host.host} is not set up for pull requests. Set its kind and a token under Settings, Git hosts.`,
      );
    const repositories = await this.#repositories(hosted, kind, repositoryAddress(wanted.into));
    const made = await this.#call(
      hosted,
      'POST',
      api.path(repositories),
      api.body(wanted, repositories),
    );
    if (made.status === 200 || made.status === 201) return { ...api.read(made.body), isNew: true };
    if (!api.exists(made)) throw refusedBy(hosted.host.host, made, 'open a pull request');
    const found = await this.#call(hosted, 'GET', api.find(repositories, wanted));
    const all = found.status === 200 ? [found.body].flat() : [];
    const open = all.find((one) => isFrom(one, repositories));
    if (!open) throw refusedBy(hosted.host.host, made, 'open a pull request');
    return { ...api.read(open), isNew: false };
  }

  /** A pull request as its host has it now, with the checks of its latest commit. Throws one sentence. */
  async pullRequest(
    hosted: HostedRepository,
    { into, number }: { into: string; number: number },
  ): Promise<PullRequestStatus> {
    const { kind, host } = hosted.host;
    if (kind === 'other')
      throw new AppError('invalid_input', `${host} is not set up for pull requests. Set its kind.`);
    const get = async (path: string): Promise<unknown> => {
      const answer = await this.#call(hosted, 'GET', path);
      if (answer.status === 200) return answer.body;
      throw refusedBy(host, answer, 'read the pull request');
    };
    const target = pathOf(hosted, kind, repositoryAddress(into));
    return requestStatus(kind, { target, number, get });
  }

  async #repositories(
    hosted: HostedRepository,
    kind: GitHostKind,
    into: RepositoryAddress,
  ): Promise<Repositories> {
    const source = pathOf(hosted, kind, hosted.remote.address);
    const target = pathOf(hosted, kind, into);
    if (source === target || kind !== 'gitlab') return { source, target };
    const [sourceId, targetId] = await Promise.all(
      [source, target].map(async (path) => {
        const answer = await this.#call(hosted, 'GET', `projects/${encodeURIComponent(path)}`);
        const project = z.object({ id: z.int() }).safeParse(answer.body);
        if (answer.status !== 200 || !project.success)
          throw refusedBy(hosted.host.host, answer, `read ${path}`);
        return project.data.id;
      }),
    );
    return { source, target, sourceId, targetId };
  }

  /** The name of the token’s user. Throws when the host refuses the token. */
  async user(hosted: HostedRepository): Promise<string> {
    if (hosted.host.kind === 'other')
      throw new AppError(
        'invalid_input',
        `The token of ${hosted.host.host} can be checked only for a known kind of host. Set its kind.`,
      );
    const answer = await this.#call(hosted, 'GET', 'user');
    const { data } = z
      .object({ login: z.string(), username: z.string() })
      .partial()
      .safeParse(answer.body);
    const name = data?.login ?? data?.username;
    if (answer.status === 200 && name) return name.slice(0, 100);
    throw refusedBy(hosted.host.host, answer, 'say whose token it is');
  }

  #call(
    hosted: HostedRepository,
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
  ): Promise<GitHostAnswer> {
    return this.requests.send(hosted, { method, path, body });
  }
}

/** The web page of a branch; null if it is unknown. */
export function branchPage({ remote, host }: HostedRepository, branch: string): string | null {
  const inPath: Record<GitHostKind, string | null> = {
    github: 'tree',
    gitlab: '-/tree',
    gitea: 'src/branch',
    other: null,
  };
  const folder = inPath[host.kind];
  if (folder === null) return null;
  const name = branch.split('/').map(encodeURIComponent).join('/');
  return `${remote.address.url.replace(/\.git$/, '')}/${folder}/${name}`;
}

/** The repository’s name in the API: GitLab’s groups may be nested, and its host may be below a path. */
function pathOf({ host }: HostedRepository, kind: GitHostKind, address: RepositoryAddress): string {
  const path = address.path.replace(/\.git$/, '');
  if (kind === 'gitlab') return path;
  const parts = path.split('/');
  if (parts.length === 2) return path;
  throw new AppError(
    'invalid_input',
    `${path} is not a repository of ${host.host}. Write it as OWNER/NAME.`,
  );
}

/** The repositories of a request, by path; GitLab also needs their ids. */
interface Repositories {
  /** The branch’s repository. */
  source: string;
  target: string;
  sourceId?: number | undefined;
  targetId?: number | undefined;
}

interface PullRequestApi {
  path(repositories: Repositories): string;
  body(wanted: NewPullRequest, repositories: Repositories): unknown;
  /** Whether the response says that a request exists already. */
  exists(answer: GitHostAnswer): boolean;
  find(repositories: Repositories, wanted: NewPullRequest): string;
  read(body: unknown): Omit<PullRequest, 'isNew'>;
}

const queryOf = (query: Record<string, string>): string => new URLSearchParams(query).toString();

const reader =
  (page: 'html_url' | 'web_url', number: 'number' | 'iid') =>
  (body: unknown): Omit<PullRequest, 'isNew'> => {
    const shape = z.record(z.string(), z.unknown()).safeParse(body);
    const url = webPage.safeParse(shape.data?.[page]);
    const id = z.int().nonnegative().safeParse(shape.data?.[number]);
    if (url.success && id.success) return { url: url.data, number: id.data };
    throw new AppError(
      'unavailable',
      'The git host’s response about the pull request cannot be read.',
    );
  };

/** A branch of a fork is named with the fork’s owner. */
const headOf = ({ source, target }: Repositories, branch: string): string =>
  source === target ? branch : `${source.split('/')[0]}:${branch}`;

const usual = ({ title, body, branch, base }: NewPullRequest, repositories: Repositories) => ({
  title,
  body,
  head: headOf(repositories, branch),
  base,
});

/** Other forks may have a branch with the same name. */
const isFrom = (request: unknown, { sourceId }: Repositories): boolean =>
  sourceId === undefined ||
  z.object({ source_project_id: z.literal(sourceId) }).safeParse(request).success;

const apis: Record<Exclude<GitHostKind, 'other'>, PullRequestApi> = {
  github: {
    path: ({ target }) => `repos/${target}/pulls`,
    body: (wanted, repositories) => ({ ...usual(wanted, repositories), draft: wanted.draft }),
    exists: ({ status, body }) => status === 422 && /already exists/i.test(JSON.stringify(body)),
    find: ({ source, target }, { branch, base }) => {
      const head = `${source.split('/')[0]}:${branch}`;
      return `repos/${target}/pulls?${queryOf({ state: 'open', head, base })}`;
    },
    read: reader('html_url', 'number'),
  },
  gitlab: {
    path: ({ source }) => `projects/${encodeURIComponent(source)}/merge_requests`,
    body: ({ title, body, draft, branch, base }, { targetId }) => ({
      title: draft ? `Draft: ${title}` : title,
      description: body,
      source_branch: branch,
      target_branch: base,
      ...(targetId !== undefined && { target_project_id: targetId }),
    }),
    exists: ({ status }) => status === 409,
    find: ({ target }, { branch, base }) =>
      `projects/${encodeURIComponent(target)}/merge_requests?${queryOf({
        state: 'opened',
        source_branch: branch,
        target_branch: base,
      })}`,
    read: reader('web_url', 'iid'),
  },
  gitea: {
    path: ({ target }) => `repos/${target}/pulls`,
    body: (wanted, repositories) => ({
      ...usual(wanted, repositories),
      title: wanted.draft ? `WIP: ${wanted.title}` : wanted.title,
    }),
    exists: ({ status }) => status === 409,
    find: (repositories, { branch, base }) =>
      `repos/${repositories.target}/pulls/${encodeURIComponent(base)}/${encodeURIComponent(headOf(repositories, branch))}`,
    read: reader('html_url', 'number'),
  },
};
