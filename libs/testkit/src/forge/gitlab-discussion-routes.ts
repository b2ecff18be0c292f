import type { Asked, PlayedAnswer } from './api-player.js';
import { isOnIn, jsonAnswer, textIn, type ApiRoutes } from './api-routes.js';
import type { PlayedPull } from './forge-records.js';
import {
  gitlabError,
  gitlabMissing,
  gitlabSubject,
  type GitlabContext,
  type OnMerge,
} from './gitlab-answers.js';
import { discussionId, type GitlabNote } from './gitlab-payloads.js';
import type { NewLine } from './repository-state.js';

/** GitLab’s routes of discussions: threads on lines, and single notes. */
export function gitlabDiscussionRoutes(context: GitlabContext, onMerge: OnMerge): ApiRoutes {
  const { state, payloads, page } = context;
  const by = state.self;
  const list = (asked: Asked) => {
    const issue = gitlabSubject(context, asked);
    return issue && page(asked, discussions(payloads.notes(issue)), payloads.discussion);
  };
  const threadAt = ({ pull }: PlayedPull, id: string) =>
    pull.threads.find((one) => discussionId(one.id) === id);
  return {
    'GET P/issues/:n/discussions': list,
    'GET P/merge_requests/:n/discussions': list,
    'POST P/merge_requests/:n/discussions': onMerge((pull, { body }) =>
      started(context, pull, body),
    ),
    'GET P/merge_requests/:n/discussions/:id': onMerge((pull, { at }) => {
      const found = discussions(payloads.notes(pull)).find(
        ([first]) => first && discussionId(first.thread?.id ?? first.text.id) === at('id'),
      );
      return found && jsonAnswer(payloads.discussion(found));
    }),
    'PUT P/merge_requests/:n/discussions/:id': onMerge((pull, { at, body, query }) => {
      const thread = threadAt(pull, at('id'));
      if (!thread) return undefined;
      thread.isResolved = isOnIn(body, 'resolved') || query.get('resolved') === 'true';
      const notes = payloads.notes(pull).filter((note) => note.thread === thread);
      return jsonAnswer(payloads.discussion(notes));
    }),
    'POST P/merge_requests/:n/discussions/:id/notes': onMerge((pull, { at, body }) => {
      const text = textIn(body, 'body');
      if (text === undefined) return gitlabMissing('body');
      const thread = threadAt(pull, at('id'));
      if (!thread) return gitlabError(404, '404 Discussion Not Found');
      const comment = state.reply(pull, thread, { by, body: text });
      return jsonAnswer(
        payloads.note({ text: comment, issue: pull, thread, isSystem: false }),
        201,
      );
    }),
  };
}

/** Notes by thread; each other note is a discussion of its own. */
function discussions(notes: readonly GitlabNote[]): GitlabNote[][] {
  const byId = Map.groupBy(notes, ({ thread, text }) => thread?.id ?? text.id);
  return [...byId.values()];
}

function started(
  { state, payloads }: GitlabContext,
  pull: PlayedPull,
  body: Record<string, unknown>,
): PlayedAnswer {
  const by = state.self;
  const text = textIn(body, 'body');
  if (text === undefined) return gitlabMissing('body');
  if (body['position'] === undefined) {
    const comment = state.comment(pull, text, { by });
    const note = { text: comment, issue: pull, thread: null, isSystem: false };
    return jsonAnswer(payloads.discussion([note]), 201);
  }
  const line = lineAt({ state, payloads }, pull, body['position'] as Record<string, unknown>);
  if (!line)
    return gitlabError(
      400,
      '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}',
    );
  state.review(pull, { by, verdict: 'comment', lines: [{ ...line, body: text }] });
  const notes = payloads.notes(pull).filter(({ thread }) => thread === pull.pull.threads.at(-1));
  return jsonAnswer(payloads.discussion(notes), 201);
}

/**
 * The line of a position: added lines have only a new number, removed ones only an old one, and unchanged ones need both.
 * A position of an earlier version has no place any more.
 */
function lineAt(
  { state, payloads }: Pick<GitlabContext, 'state' | 'payloads'>,
  pull: PlayedPull,
  position: Record<string, unknown>,
): Omit<NewLine, 'body'> | undefined {
  const refs = Object.entries(payloads.diffRefs(pull));
  if (!refs.every(([name, sha]) => position[name] === sha)) return undefined;
  const path = textIn(position, 'new_path') ?? textIn(position, 'old_path') ?? '';
  const number = (name: string) =>
    position[name] === undefined || position[name] === null ? null : Number(position[name]);
  const [fresh, old] = [number('new_line'), number('old_line')];
  const lines = state.linesOf(pull, path, 9999);
  if (fresh !== null)
    return lines.fresh.get(fresh) === old ? { path, line: fresh, side: 'new' } : undefined;
  const isRemoved = old !== null && lines.old.get(old) === null;
  return isRemoved ? { path, line: old, side: 'old' } : undefined;
}
