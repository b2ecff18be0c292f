import type { Asked, PlayedAnswer } from './api-player.js';
import {
  jsonAnswer,
  changedSince,
  sortedBy,
  textIn,
  textsIn,
  type ApiRoutes,
} from './api-routes.js';
import type { PlayedHistory, PlayedIssue, PlayedText } from './forge-records.js';
import { badBody, githubError, type GithubContext } from './github-answers.js';
import { githubSeconds } from './github-payloads.js';

const reactions = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes'];

/** GitHub’s routes of issues and their comments, which are also those of pull requests. */
export function githubIssueRoutes(context: GithubContext): ApiRoutes {
  const { state, payloads, page } = context;
  const by = state.self;
  const issueAt = ({ at }: Asked) => state.numbered(Number(at('n')));
  const onIssue =
    (answer: (issue: PlayedIssue, asked: Asked) => PlayedAnswer | undefined) => (asked: Asked) => {
      const issue = issueAt(asked);
      return issue && answer(issue, asked);
    };
  return {
    ...commentRoutes(context),
    ...labelRoutes(context, onIssue),
    'GET R/issues': (asked) => page(asked, listed(state.issues, asked), payloads.issue),
    'POST R/issues': ({ body }) => {
      const title = textIn(body, 'title');
      if (title === undefined)
        return githubError(422, 'Invalid request.\n\n"title" wasn\'t supplied.');
      const labels = textsIn(body, 'labels') ?? [];
      const issue = state.openIssue({ by, title, body: textIn(body, 'body') ?? '', labels });
      return jsonAnswer(payloads.issue(issue), 201);
    },
    'GET R/issues/:n': onIssue((issue) =>
      jsonAnswer({ ...payloads.issue(issue), closed_by: null }),
    ),
    'PATCH R/issues/:n': onIssue((issue, { body }) => {
      const refusal = issue.author === by ? undefined : context.refused('triage');
      if (refusal) return refusal;
      if (body['state'] !== undefined) state.setOpen(issue, body['state'] === 'open', { by });
      const [title, text] = [textIn(body, 'title'), textIn(body, 'body')];
      if (title !== undefined || text !== undefined)
        state.editIssue(issue, {
          by,
          ...(title !== undefined && { title }),
          ...(text !== undefined && { body: text }),
        });
      return jsonAnswer(payloads.issue(issue));
    }),
    'POST R/issues/:n/assignees': onIssue((issue, { body }) => {
      const refusal = context.refused('triage');
      if (refusal) return refusal;
      // GitHub leaves out whom nobody can assign, without an error.
      for (const name of textsIn(body, 'assignees') ?? []) {
        const user = context.named(name);
        if (user && !issue.assignees.includes(user)) state.assign(issue, user, { by });
      }
      return jsonAnswer(payloads.issue(issue), 201);
    }),
    'GET R/issues/events': (asked) =>
      page(asked, eventsOf(context).toReversed(), (one) => shownEvent(context, one)),
    'GET R/issues/:n/events': onIssue((issue, asked) =>
      page(
        asked,
        eventsOf(context).filter((one) => one.issue === issue),
        (one) => shownEvent(context, one),
      ),
    ),
    'GET R/issues/:n/reactions': onIssue((issue, asked) => reactionList(context, issue, asked)),
    'POST R/issues/:n/reactions': onIssue((issue, asked) => addReaction(context, issue, asked)),
  };
}

function commentRoutes(context: GithubContext): ApiRoutes {
  const { state, payloads, page } = context;
  const by = state.self;
  const all = () =>
    state.issues.flatMap((issue) =>
      issue.comments.map((comment) => ({ ...comment, issue, comment })),
    );
  const found = ({ at }: Asked) => all().find(({ id }) => String(id) === at('id'));
  const shown = ({ issue, comment }: { issue: PlayedIssue; comment: PlayedText }) =>
    payloads.comment(issue, comment);
  return {
    'GET R/issues/:n/comments': (asked) => {
      const issue = state.numbered(Number(asked.at('n')));
      const since = asked.query.get('since');
      return (
        issue &&
        page(asked, changedSince(issue.comments, since), (one) => payloads.comment(issue, one))
      );
    },
    'POST R/issues/:n/comments': ({ at, body }) => {
      const issue = state.numbered(Number(at('n')));
      const refusal = badBody(textIn(body, 'body'), 'IssueComment');
      if (!issue || refusal) return refusal;
      const comment = state.comment(issue, textIn(body, 'body') ?? '', { by });
      return jsonAnswer(payloads.comment(issue, comment), 201);
    },
    'GET R/issues/comments': (asked) => {
      const { query } = asked;
      const order = query.get('sort') === 'updated' ? 'updated' : 'created';
      const list = changedSince(all(), query.get('since'));
      return page(asked, sortedBy(list, order, query.get('direction') ?? 'asc'), shown);
    },
    'GET R/issues/comments/:id': (asked) => {
      const one = found(asked);
      return one && jsonAnswer(shown(one));
    },
    'PATCH R/issues/comments/:id': (asked) => {
      const one = found(asked);
      if (!one) return undefined;
      const refusal =
        badBody(textIn(asked.body, 'body'), 'IssueComment') ??
        (one.author === by ? undefined : context.refused('write'));
      if (refusal) return refusal;
      state.editComment(one.comment, textIn(asked.body, 'body') ?? '', { by });
      return jsonAnswer(shown(one));
    },
    'DELETE R/issues/comments/:id': (asked) => {
      const one = found(asked);
      if (!one) return undefined;
      state.deleteComment(one.comment, { by });
      return { status: 204 };
    },
    'GET R/issues/comments/:id/reactions': (asked) => {
      const one = found(asked);
      return one && reactionList(context, one.comment, asked);
    },
    'POST R/issues/comments/:id/reactions': (asked) => {
      const one = found(asked);
      return one && addReaction(context, one.comment, asked);
    },
  };
}

function labelRoutes(
  context: GithubContext,
  onIssue: (
    answer: (issue: PlayedIssue, asked: Asked) => PlayedAnswer | undefined,
  ) => (asked: Asked) => PlayedAnswer | undefined,
): ApiRoutes {
  const { state, payloads, page } = context;
  const by = state.self;
  const labels = (issue: PlayedIssue) => jsonAnswer(issue.labels.map(payloads.label));
  const wanted = ({ body, list }: Asked) => list?.map(String) ?? textsIn(body, 'labels') ?? [];
  return {
    'GET R/labels': (asked) => page(asked, state.labels, ({ name }) => payloads.label(name)),
    'GET R/issues/:n/labels': onIssue((issue, asked) => page(asked, issue.labels, payloads.label)),
    'POST R/issues/:n/labels': onIssue((issue, asked) => {
      const refusal = context.refused('triage');
      if (refusal) return refusal;
      for (const name of wanted(asked)) state.label(issue, name, { by });
      return labels(issue);
    }),
    'PUT R/issues/:n/labels': onIssue((issue, asked) => {
      const refusal = context.refused('triage');
      if (refusal) return refusal;
      const names = wanted(asked);
      for (const name of issue.labels)
        if (!names.includes(name)) state.unlabel(issue, name, { by });
      for (const name of names) state.label(issue, name, { by });
      return labels(issue);
    }),
    'DELETE R/issues/:n/labels/:name': onIssue((issue, { at }) => {
      const refusal = context.refused('triage');
      if (refusal) return refusal;
      const name = issue.labels.find((one) => one.toLowerCase() === at('name').toLowerCase());
      if (name === undefined) return githubError(404, 'Label does not exist');
      state.unlabel(issue, name, { by });
      return labels(issue);
    }),
  };
}

function listed(issues: readonly PlayedIssue[], { query }: Asked): PlayedIssue[] {
  const state = query.get('state') ?? 'open';
  const labels = query.get('labels')?.split(',') ?? [];
  const order = query.get('sort') === 'updated' ? 'updated' : 'created';
  const fitting = changedSince(issues, query.get('since')).filter(
    (one) =>
      (state === 'all' || one.isOpen === (state === 'open')) &&
      labels.every((label) => one.labels.includes(label)),
  );
  return sortedBy(fitting, order, query.get('direction') ?? 'desc');
}

/** What GitHub keeps as events of issues: not that they were opened, edited or pushed to. */
const eventsOf = ({ state }: GithubContext): PlayedHistory[] =>
  state.history.filter(({ event }) => !['opened', 'edited', 'synchronize'].includes(event));

function shownEvent({ state, payloads }: GithubContext, one: PlayedHistory): object {
  const { id, event, by, label, assignee, at, issue } = one;
  return {
    id,
    node_id: Buffer.from(`IssueEvent:${id}`).toString('base64'),
    url: `${payloads.api}/repos/${state.path}/issues/events/${id}`,
    actor: by.isDeleted ? null : payloads.user(by),
    event,
    commit_id: null,
    commit_url: null,
    created_at: githubSeconds(at),
    ...(label !== undefined && { label: { name: label, color: 'ededed' } }),
    ...(assignee && { assignee: payloads.user(assignee), assigner: payloads.user(by) }),
    issue: payloads.issue(issue),
    performed_via_github_app: null,
  };
}

export function reactionList(
  { page, payloads }: GithubContext,
  { reactions: all }: PlayedText,
  asked: Asked,
): PlayedAnswer {
  return page(asked, all, ({ id, user, content, created }) => ({
    id,
    user: payloads.user(user),
    content,
    created_at: githubSeconds(created),
  }));
}

/** Adds a reaction: 201 for a new one, 200 if the user had made it already. */
export function addReaction(
  { state, payloads }: GithubContext,
  text: PlayedText,
  { body }: Asked,
): PlayedAnswer {
  const content = textIn(body, 'content') ?? '';
  if (!reactions.includes(content))
    return githubError(422, 'Validation Failed', [
      { resource: 'Reaction', field: 'content', code: 'invalid' },
    ]);
  const isNew = state.react(text, content, { by: state.self });
  const made = text.reactions.find((one) => one.user === state.self && one.content === content);
  const user = payloads.user(state.self);
  const shown = { id: made?.id, user, content, created_at: githubSeconds(made?.created ?? '') };
  return jsonAnswer(shown, isNew ? 201 : 200);
}
