import { GitServer } from '../git-server.js';
import { ApiPlayer, type ApiFace } from './api-player.js';
import type { PlayedEvent, PlayedKind } from './forge-records.js';
import type { PlayedLevel } from './played-levels.js';
import { GiteaPlayer } from './gitea-player.js';
import { GithubPlayer } from './github-player.js';
import { GitlabPlayer } from './gitlab-player.js';
import { PlayedGit } from './played-git.js';
import { RepositoryState } from './repository-state.js';
import type { WebhookSender } from './webhook-sender.js';

interface ForgeFace extends ApiFace {
  sender: WebhookSender;
  /** Sends the webhooks of what happened. */
  tell(event: PlayedEvent): void;
}

/** A played git host with one repository: real git over HTTP, and the API and webhooks of its kind. */
export interface PlayedForge {
  kind: PlayedKind;
  state: RepositoryState;
  git: GitServer;
  /** The address of the repository, for git. */
  url: string;
  /** The address of the API. */
  api: string;
  token: string;
  /** Failures, rate limits and the requests so far. */
  player: ApiPlayer;
  /** Hooks and what was sent to them. */
  hooks: WebhookSender;
  close(): Promise<void>;
}

const firstFiles = {
  'README.md': '# A repository\n',
  'src/sum.js': `${['export function sum(a, b) {', '  return a - b;', '}'].join('\n')}\n`,
};

/**
 * Starts a played git host. Repositories below `private/` are private. The token’s user may write unless `level` says
 * otherwise; hooks need `admin`.
 */
export async function startForge(
  kind: PlayedKind,
  {
    repository,
    level = 'admin',
    files = firstFiles,
    isForgejo = false,
  }: {
    repository: string;
    level?: PlayedLevel;
    files?: Readonly<Record<string, string>>;
    /** Whether Gitea is its fork, with headers and events of its own. */
    isForgejo?: boolean;
  },
): Promise<PlayedForge> {
  const git = await new GitServer().start();
  const isPrivate = repository.startsWith('private/');
  const played = new PlayedGit(git, repository);
  const options = { path: repository, isPrivate, selfLevel: level };
  const state = new RepositoryState(kind, played, options);
  state.push(state.defaultBranch, { by: state.self, files, message: 'first' });
  const site = `http://${git.host}`;
  const face: ForgeFace = faces[kind](state, site, isForgejo);
  state.onEvent = (event) => face.tell(event);
  const player = new ApiPlayer(face, git.token);
  if (kind === 'gitea') player.limits.remaining = Number.POSITIVE_INFINITY;
  git.intercept = (request, response) => {
    if (player.handle(request, response)) return true;
    if (request.url?.endsWith('/git-receive-pack') && request.method === 'POST')
      response.once('close', () => state.noticePushes(state.self));
    return false;
  };
  return {
    kind,
    state,
    git,
    url: git.url(`${repository}.git`),
    api: `${site}${face.prefix.slice(0, -1)}`,
    token: git.token,
    player,
    hooks: face.sender,
    close: async () => {
      await face.sender.idle();
      await git.close();
    },
  };
}

const faces: Record<
  PlayedKind,
  (state: RepositoryState, site: string, isForgejo: boolean) => ForgeFace
> = {
  github: (state, site) => new GithubPlayer(state, site),
  gitlab: (state, site) => new GitlabPlayer(state, site),
  gitea: (state, site, isForgejo) => new GiteaPlayer(state, site, isForgejo),
};
