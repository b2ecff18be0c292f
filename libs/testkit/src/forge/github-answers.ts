import type { Asked, PlayedAnswer, PlayedFailure } from './api-player.js';
import type { PlayedHook, PlayedUser } from './forge-records.js';
import type { PlayedLevel } from './played-levels.js';
import type { GithubCheckPayloads } from './github-check-payloads.js';
import type { GithubPayloads } from './github-payloads.js';
import type { RepositoryState } from './repository-state.js';
import type { WebhookSender } from './webhook-sender.js';

export const githubDocumentation = 'https://docs.github.com/rest';

/** An error as GitHub words it. */
export const githubError = (status: number, message: string, errors?: unknown[]): PlayedAnswer => ({
  status,
  body: {
    message,
    ...(errors && { errors }),
    documentation_url: githubDocumentation,
    status: String(status),
  },
});

/** GitHub’s answer to too many requests at once, for `fail` of a player. */
export function githubSecondaryLimit(seconds: number): PlayedFailure {
  const message =
    'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
  const { status, body } = githubError(403, message);
  return { status, body, headers: { 'retry-after': String(seconds) } };
}

/** What the routes of the GitHub player share. */
export interface GithubContext {
  readonly state: RepositoryState;
  readonly payloads: GithubPayloads;
  readonly checks: GithubCheckPayloads;
  readonly sender: WebhookSender;
  /** One page of a list, 30 entries unless asked for up to 100. */
  page<T>(asked: Asked, list: readonly T[], shown: (item: T) => unknown): PlayedAnswer;
  /** A refusal unless the token’s user has a level. */
  refused(level: PlayedLevel): PlayedAnswer | undefined;
  hookShown(hook: PlayedHook): object;
  ping(hook: PlayedHook): void;
  /** The user of the name; nothing for accounts that do not exist. */
  named(name: string): PlayedUser | undefined;
}

const maxBodyCharacters = 65_536;

/** The refusal of a text that is empty or too long. */
export function badBody(body: string | undefined, resource: string): PlayedAnswer | undefined {
  const error = (more: object) =>
    githubError(422, 'Validation Failed', [{ resource, field: 'body', ...more }]);
  if (body === undefined) return error({ code: 'missing_field' });
  if (body.length <= maxBodyCharacters) return undefined;
  const message = `body is too long (maximum is ${maxBodyCharacters} characters)`;
  return error({ code: 'custom', message });
}
