import type { Asked, PlayedAnswer } from './api-player.js';
import { changedSince, jsonAnswer, sortedBy, textIn, type ApiRoutes } from './api-routes.js';
import type { PlayedIssue, PlayedText } from './forge-records.js';
import { isPlayedPull } from './forge-state.js';
import {
  giteaError,
  giteaReact,
  giteaReactions,
  onGiteaIssue,
  type GiteaContext,
} from './gitea-answers.js';
import { giteaDraft } from './gitea-payloads.js';

/** Gitea’s routes of issues and their comments, which are also those of pull requests. */
export function giteaIssueRoutes(context: GiteaContext): ApiRoutes {
  const { state, payloads, page } = context;
  const by = state.self;
  const on = (answer: (issue: PlayedIssue, asked: Asked) => PlayedAnswer | undefined) =>
    onGiteaIssue(context, answer);
  return {
    ...commentRoutes(context),
    ...labelRoutes(context),
    'GET R/issues': (asked) => page(asked, listed(state.issues, asked), payloads.issue),
    'POST R/issues': ({ body }) => {
      const title = textIn(body, 'title');
      if (title === undefined) return giteaError(422, '[Title]: Required');
      const issue = state.openIssue({ by, title, body: textIn(body, 'body') ?? '' });
      return jsonAnswer(payloads.issue(issue), 201);
    },
    'GET R/issues/:n': on((issue) => jsonAnswer(payloads.issue(issue))),
    'PATCH R/issues/:n': on((issue, { body }) => {
      const refusal = issue.author === by ? undefined : context.refused('write');
      if (refusal) return refusal;
      changeGiteaIssue(context, issue, body);
      return jsonAnswer(payloads.issue(issue), 201);
    }),
    'GET R/issues/:n/timeline': on((issue, asked) => {
      const comments = issue.comments.map((comment) => ({
        ...payloads.comment(issue, comment),
        type: 'comment',
        label: null,
        assignee: null,
      }));
      const events = state.history.filter((one) => one.issue === issue && one.event !== 'opened');
      const all = [...comments, ...events.map(payloads.entry)].map((one) => ({
        ...one,
        created: one.created_at,
        updated: one.updated_at,
      }));
      const since = changedSince(all, asked.query.get('since'));
      return page(
        asked,
        since.toSorted((a, b) => a.id - b.id),
        ({ created: _c, updated: _u, ...shown }) => shown,
      );
    }),
    'GET R/issues/:n/reactions': on((issue) => giteaReactions(context, issue)),
    'POST R/issues/:n/reactions': on((issue, { body }) =>
      giteaReact(context, issue, textIn(body, 'content') ?? ''),
    ),
  };
}

function commentRoutes(context: GiteaContext): ApiRoutes {
  const { state, payloads, page } = context;
  const by = state.self;
  const all = () =>
    state.issues.flatMap((issue) =>
      issue.comments.map((comment) => ({ ...comment, issue, comment })),
    );
  const onComment =
    (
      answer: (
        found: { issue: PlayedIssue; comment: PlayedText },
        asked: Asked,
      ) => PlayedAnswer | undefined,
    ) =>
    (asked: Asked) => {
      const found = all().find(({ id }) => String(id) === asked.at('id'));
      return found && answer(found, asked);
    };
  return {
    'GET R/issues/comments': (asked) =>
      page(
        asked,
        sortedBy(changedSince(all(), asked.query.get('since')), 'created', 'asc'),
        ({ issue, comment }) => payloads.comment(issue, comment),
      ),
    // Not in pages: Gitea sends all of them.
    'GET R/issues/:n/comments': onGiteaIssue(context, (issue, { query }) =>
      jsonAnswer(
        changedSince(issue.comments, query.get('since')).map((one) => payloads.comment(issue, one)),
      ),
    ),
    'POST R/issues/:n/comments': onGiteaIssue(context, (issue, { body }) => {
      const text = textIn(body, 'body');
      if (text === undefined) return giteaError(422, '[Body]: Required');
      return jsonAnswer(payloads.comment(issue, state.comment(issue, text, { by })), 201);
    }),
    'GET R/issues/comments/:id': onComment(({ issue, comment }) =>
      jsonAnswer(payloads.comment(issue, comment)),
    ),
    'PATCH R/issues/comments/:id': onComment(({ issue, comment }, { body }) => {
      const refusal = comment.author === by ? undefined : context.refused('admin');
      if (refusal) return refusal;
      state.editComment(comment, textIn(body, 'body') ?? '', { by });
      return jsonAnswer(payloads.comment(issue, comment));
    }),
    'DELETE R/issues/comments/:id': onComment(({ comment }) => {
      state.deleteComment(comment, { by });
      return { status: 204 };
    }),
    'GET R/issues/comments/:id/reactions': onComment(({ comment }) =>
      giteaReactions(context, comment),
    ),
    'POST R/issues/comments/:id/reactions': onComment(({ comment }, { body }) =>
      giteaReact(context, comment, textIn(body, 'content') ?? ''),
    ),
  };
}

/** Labels must exist; they are named or numbered when added, and numbered when removed. */
function labelRoutes(context: GiteaContext): ApiRoutes {
  const { state, payloads, page } = context;
  const by = state.self;
  const labels = (issue: PlayedIssue) => jsonAnswer(issue.labels.map(payloads.label));
  const named = (label: unknown) =>
    state.labels.find(({ id, name }) => label === id || label === name)?.name;
  const wanted = ({ body }: Asked) => {
    const list = Array.isArray(body['labels']) ? body['labels'].map(named) : [];
    return list.filter((name) => name !== undefined);
  };
  return {
    'GET R/labels': (asked) => page(asked, state.labels, ({ name }) => payloads.label(name)),
    'POST R/labels': ({ body }) => {
      const refusal = context.refused('write');
      const name = textIn(body, 'name');
      if (refusal) return refusal;
      if (name === undefined) return giteaError(422, '[Name]: Required');
      if (textIn(body, 'color') === undefined) return giteaError(422, '[Color]: Required');
      return jsonAnswer(payloads.label(state.labelNamed(name)), 201);
    },
    'GET R/issues/:n/labels': onGiteaIssue(context, labels),
    'POST R/issues/:n/labels': onGiteaIssue(context, (issue, asked) => {
      const refusal = context.refused('write');
      if (refusal) return refusal;
      for (const name of wanted(asked)) state.label(issue, name, { by });
      return labels(issue);
    }),
    'PUT R/issues/:n/labels': onGiteaIssue(context, (issue, asked) => {
      const refusal = context.refused('write');
      if (refusal) return refusal;
      const names = wanted(asked);
      for (const name of issue.labels)
        if (!names.includes(name)) state.unlabel(issue, name, { by });
      for (const name of names) state.label(issue, name, { by });
      return labels(issue);
    }),
    'DELETE R/issues/:n/labels/:id': onGiteaIssue(context, (issue, { at }) => {
      const refusal = context.refused('write');
      if (refusal) return refusal;
      const found = state.labels.find(({ id }) => String(id) === at('id'));
      if (!found) return giteaError(422, `label does not exist [label_id: ${at('id')}]`);
      state.unlabel(issue, found.name, { by });
      return { status: 204 };
    }),
  };
}

/** Changes an issue or a pull request as Gitea’s PATCH does. */
export function changeGiteaIssue(
  { state }: GiteaContext,
  issue: PlayedIssue,
  body: Record<string, unknown>,
): void {
  const by = state.self;
  const [title, text] = [textIn(body, 'title'), textIn(body, 'body')];
  if (title !== undefined && isPlayedPull(issue) && giteaDraft.test(title) !== issue.pull.isDraft)
    state.setDraft(issue, giteaDraft.test(title), { by });
  if (title !== undefined || text !== undefined)
    state.editIssue(issue, {
      by,
      ...(title !== undefined && { title }),
      ...(text !== undefined && { body: text }),
    });
  const open = textIn(body, 'state');
  if (open !== undefined) state.setOpen(issue, open === 'open', { by });
}

function listed(issues: readonly PlayedIssue[], { query }: Asked): PlayedIssue[] {
  const state = query.get('state') ?? 'open';
  const type = query.get('type');
  const labels = query.get('labels')?.split(',') ?? [];
  const fitting = changedSince(issues, query.get('since')).filter(
    (one) =>
      (state === 'all' || one.isOpen === (state !== 'closed')) &&
      (type === null || (one.pull !== null) === (type === 'pulls')) &&
      labels.every((label) => one.labels.includes(label)),
  );
  return sortedBy(fitting, 'created', 'desc');
}
