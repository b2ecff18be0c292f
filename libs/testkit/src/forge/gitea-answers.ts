import type { Asked, PlayedAnswer } from './api-player.js';
import { jsonAnswer } from './api-routes.js';
import type { PlayedIssue, PlayedText } from './forge-records.js';
import type { GiteaCommitPayloads } from './gitea-commit-payloads.js';
import { giteaSeconds, type GiteaPayloads } from './gitea-payloads.js';
import type { PlayedLevel } from './played-levels.js';
import type { RepositoryState } from './repository-state.js';
import type { WebhookSender } from './webhook-sender.js';

/** An error as Gitea words it, with the address of its documentation. */
export const giteaError = (status: number, message: string): PlayedAnswer => ({
  status,
  body: { message, url: 'https://gitea.example.com/api/swagger' },
});

export const giteaNotFound: PlayedAnswer = {
  status: 404,
  body: { errors: [], message: "The target couldn't be found.", url: '/api/swagger' },
};

/** What the routes of the Gitea player share. */
export interface GiteaContext {
  readonly state: RepositoryState;
  readonly payloads: GiteaPayloads;
  readonly commits: GiteaCommitPayloads;
  readonly sender: WebhookSender;
  page<T>(asked: Asked, list: readonly T[], shown: (item: T) => unknown): PlayedAnswer;
  refused(level: PlayedLevel): PlayedAnswer | undefined;
}

export const onGiteaIssue =
  (
    { state }: GiteaContext,
    answer: (issue: PlayedIssue, asked: Asked) => PlayedAnswer | undefined,
  ) =>
  (asked: Asked): PlayedAnswer | undefined => {
    const issue = state.numbered(Number(asked.at('n')));
    return issue && answer(issue, asked);
  };

/** All reactions of a text; null for none. */
export function giteaReactions({ payloads }: GiteaContext, text: PlayedText): PlayedAnswer {
  const all = text.reactions.map(({ user, content, created }) => ({
    user: payloads.user(user),
    content,
    created_at: giteaSeconds(created),
  }));
  return jsonAnswer(all.length > 0 ? all : null);
}

/** Adds a reaction: 201 for a new one, 200 if the user had made it already. */
export function giteaReact(
  { state, payloads }: GiteaContext,
  text: PlayedText,
  content: string,
): PlayedAnswer {
  const allowed = ['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes'];
  if (!allowed.includes(content)) return giteaError(403, `'${content}' is not an allowed reaction`);
  const isNew = state.react(text, content, { by: state.self });
  const made = text.reactions.find((one) => one.user === state.self && one.content === content);
  const user = payloads.user(state.self);
  const shown = { user, content, created_at: giteaSeconds(made?.created ?? '') };
  return jsonAnswer(shown, isNew ? 201 : 200);
}
