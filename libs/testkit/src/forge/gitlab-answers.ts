import type { Asked, PlayedAnswer } from './api-player.js';
import type { PlayedIssue, PlayedPull, PlayedText } from './forge-records.js';
import type { GitlabNote, GitlabPayloads } from './gitlab-payloads.js';
import type { PlayedLevel } from './played-levels.js';
import type { RepositoryState } from './repository-state.js';
import type { WebhookSender } from './webhook-sender.js';

/** GitLab words errors of its own as `message`, and those of parameters as `error`. */
export const gitlabError = (status: number, message: unknown): PlayedAnswer => ({
  status,
  body: { message },
});

export const gitlabMissing = (name: string): PlayedAnswer => ({
  status: 400,
  body: { error: `${name} is missing` },
});

/** What the routes of the GitLab player share. */
export interface GitlabContext {
  readonly state: RepositoryState;
  readonly payloads: GitlabPayloads;
  readonly sender: WebhookSender;
  page<T>(asked: Asked, list: readonly T[], shown: (item: T) => unknown): PlayedAnswer;
  refused(level: PlayedLevel): PlayedAnswer | undefined;
}

/** The issue or merge request of a request’s path. */
export function gitlabSubject(
  { state }: GitlabContext,
  { at, path }: Asked,
): PlayedIssue | undefined {
  const what = path.includes('/merge_requests/') ? 'pull' : 'issue';
  return state.numbered(Number(at('n')), what);
}

export const gitlabNoteAt = (
  { payloads }: GitlabContext,
  issue: PlayedIssue,
  id: string,
): GitlabNote | undefined => payloads.notes(issue).find(({ text }) => String(text.id) === id);

/** Adds an emoji; a second one is refused in words that say 404. */
export function gitlabAward(
  { state, payloads }: GitlabContext,
  text: PlayedText,
  name: string | undefined,
): PlayedAnswer {
  if (name === undefined) return gitlabMissing('name');
  if (!state.react(text, name, { by: state.self }))
    return gitlabError(404, '404 Award Emoji Name has already been taken Not Found');
  const made = text.reactions.at(-1);
  const user = payloads.user(state.self);
  const body = { id: made?.id, name, user, created_at: made?.created, updated_at: made?.created };
  return { status: 201, body: { ...body, awardable_id: text.id, url: null } };
}

export type OnMerge = (
  answer: (pull: PlayedPull, asked: Asked) => PlayedAnswer | undefined,
) => (asked: Asked) => PlayedAnswer | undefined;
