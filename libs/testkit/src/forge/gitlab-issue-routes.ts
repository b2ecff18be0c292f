import type { Asked, PlayedAnswer } from './api-player.js';
import {
  changedSince,
  isOnIn,
  jsonAnswer,
  sortedBy,
  textIn,
  textsIn,
  type ApiRoutes,
} from './api-routes.js';
import type { PlayedHistory, PlayedIssue } from './forge-records.js';
import { isPlayedPull } from './forge-state.js';
import {
  gitlabAward,
  gitlabError,
  gitlabMissing,
  gitlabNoteAt,
  gitlabSubject,
  type GitlabContext,
} from './gitlab-answers.js';
import { gitlabDraft, type GitlabNote } from './gitlab-payloads.js';

/** GitLab’s routes of issues, and what merge requests have in common with them. */
export function gitlabIssueRoutes(context: GitlabContext): ApiRoutes {
  const { state, payloads, page } = context;
  const issues = (asked: Asked) =>
    gitlabListed(
      state.issues.filter(({ pull }) => !pull),
      asked,
    );
  return {
    'GET P/issues': (asked) => page(asked, issues(asked), payloads.issue),
    'POST P/issues': ({ body }) => {
      const title = textIn(body, 'title');
      if (title === undefined) return gitlabMissing('title');
      const labels = textsIn(body, 'labels') ?? [];
      const text = textIn(body, 'description') ?? '';
      const isConfidential = isOnIn(body, 'confidential');
      const made = { by: state.self, title, body: text, labels, isConfidential };
      return jsonAnswer(payloads.issue(state.openIssue(made)), 201);
    },
    ...shared(context, 'issues'),
    ...shared(context, 'merge_requests'),
    'GET P/events': (asked) => page(asked, gitlabEvents(context, asked), (one) => one),
  };
}

function shared(context: GitlabContext, kind: 'issues' | 'merge_requests'): ApiRoutes {
  const { state, payloads, page } = context;
  const by = state.self;
  const at = `P/${kind}/:n`;
  const on =
    (answer: (issue: PlayedIssue, asked: Asked) => PlayedAnswer | undefined) => (asked: Asked) => {
      const issue = gitlabSubject(context, asked);
      return issue && answer(issue, asked);
    };
  const onNote = (answer: (note: GitlabNote, asked: Asked) => PlayedAnswer | undefined) =>
    on((issue, asked) => {
      const note = gitlabNoteAt(context, issue, asked.at('id'));
      return note ? answer(note, asked) : gitlabError(404, '404 Note Not Found');
    });
  const shown = (issue: PlayedIssue) =>
    isPlayedPull(issue) ? payloads.wholeMerge(issue) : payloads.issue(issue);
  return {
    [`GET ${at}`]: on((issue) => jsonAnswer(shown(issue))),
    [`PUT ${at}`]: on((issue, { body }) => {
      const refusal = issue.author === by ? undefined : context.refused('triage');
      if (refusal) return refusal;
      changeGitlabIssue(context, issue, body);
      return jsonAnswer(shown(issue));
    }),
    [`GET ${at}/notes`]: on((issue, asked) => {
      const { query } = asked;
      const order = query.get('order_by') === 'updated_at' ? 'updated' : 'created';
      const notes = payloads.notes(issue).map((note) => ({ ...note.text, note }));
      const sorted = sortedBy(notes, order, query.get('sort') ?? 'desc');
      return page(asked, sorted, ({ note }) => payloads.note(note));
    }),
    [`POST ${at}/notes`]: on((issue, { body }) => {
      const text = textIn(body, 'body');
      if (text === undefined) return gitlabMissing('body');
      if (text.length > 1_000_000) return gitlabError(400, { note: ['is too long (maximum is 1000000 characters)'] }); // prettier-ignore
      const comment = state.comment(issue, text, { by });
      return jsonAnswer(
        payloads.note({ text: comment, issue, thread: null, isSystem: false }),
        201,
      );
    }),
    [`GET ${at}/notes/:id`]: onNote((note) => jsonAnswer(payloads.note(note))),
    [`PUT ${at}/notes/:id`]: onNote((note, { body }) => {
      const refusal = note.text.author === by ? undefined : context.refused('maintain');
      if (refusal) return refusal;
      state.editComment(note.text, textIn(body, 'body') ?? '', { by });
      return jsonAnswer(payloads.note(note));
    }),
    [`DELETE ${at}/notes/:id`]: onNote((note) => {
      state.deleteComment(note.text, { by });
      return { status: 204 };
    }),
    [`GET ${at}/award_emoji`]: on((issue, asked) => awards(context, issue.reactions, asked)),
    [`POST ${at}/award_emoji`]: on((issue, { body, query }) =>
      gitlabAward(context, issue, textIn(body, 'name') ?? query.get('name') ?? undefined),
    ),
    [`GET ${at}/notes/:id/award_emoji`]: onNote(({ text }, asked) =>
      awards(context, text.reactions, asked),
    ),
    [`POST ${at}/notes/:id/award_emoji`]: onNote(({ text }, { body, query }) =>
      gitlabAward(context, text, textIn(body, 'name') ?? query.get('name') ?? undefined),
    ),
    [`GET ${at}/resource_label_events`]: on((issue, asked) =>
      page(
        asked,
        state.history.filter((one) => one.issue === issue && one.label !== undefined),
        (one) => labelEvent(context, one),
      ),
    ),
  };
}

function awards(
  { page, payloads }: GitlabContext,
  reactions: PlayedIssue['reactions'],
  asked: Asked,
): PlayedAnswer {
  return page(asked, reactions, ({ id, content, user, created }) => ({
    id,
    name: content,
    user: payloads.user(user),
    created_at: created,
    updated_at: created,
  }));
}

/** Changes an issue or a merge request as GitLab’s PUT does. */
function changeGitlabIssue(
  { state }: GitlabContext,
  issue: PlayedIssue,
  body: Record<string, unknown>,
): void {
  const by = state.self;
  const [title, text] = [textIn(body, 'title'), textIn(body, 'description')];
  if (title !== undefined && isPlayedPull(issue) && gitlabDraft.test(title) !== issue.pull.isDraft)
    state.setDraft(issue, gitlabDraft.test(title), { by });
  if (title !== undefined || text !== undefined)
    state.editIssue(issue, {
      by,
      ...(title !== undefined && { title }),
      ...(text !== undefined && { body: text }),
    });
  const replaced = textsIn(body, 'labels');
  const added = replaced ?? textsIn(body, 'add_labels') ?? [];
  const removed = replaced
    ? issue.labels.filter((name) => !replaced.includes(name))
    : (textsIn(body, 'remove_labels') ?? []);
  for (const name of added) state.label(issue, name, { by });
  for (const name of removed) state.unlabel(issue, name, { by });
  const event = textIn(body, 'state_event');
  if (event !== undefined) state.setOpen(issue, event === 'reopen', { by });
}

export function gitlabListed<T extends PlayedIssue>(issues: readonly T[], { query }: Asked): T[] {
  const state = query.get('state') ?? 'all';
  const labels = query.get('labels')?.split(',') ?? [];
  const order = query.get('order_by') === 'updated_at' ? 'updated' : 'created';
  const stateOf = ({ pull, isOpen }: T) => {
    if (pull?.merged) return 'merged';
    return isOpen ? 'opened' : 'closed';
  };
  const until = query.get('updated_before');
  const fitting = changedSince(issues, query.get('updated_after')).filter(
    (one) =>
      (state === 'all' || stateOf(one) === state) &&
      (until === null || Date.parse(one.updated) <= Date.parse(until)) &&
      labels.every((label) => one.labels.includes(label)),
  );
  return sortedBy(fitting, order, query.get('sort') ?? 'desc');
}

function labelEvent({ state, payloads }: GitlabContext, one: PlayedHistory): object {
  const label = state.labels.find(({ name }) => name === one.label);
  return {
    id: one.id,
    user: payloads.user(one.by),
    created_at: one.at,
    resource_type: one.issue.pull ? 'MergeRequest' : 'Issue',
    resource_id: one.issue.id,
    // Null once the label was deleted.
    label: label ? { id: label.id, name: label.name, color: '#ffffff', description: null } : null,
    action: one.event === 'labeled' ? 'add' : 'remove',
  };
}

/** The newest events of the project. `after` is a day, which is left out itself. */
function gitlabEvents({ state, payloads }: GitlabContext, { query }: Asked): object[] {
  const after = query.get('after');
  const wanted = query.get('target_type');
  const notes = state.issues
    .flatMap((issue) => payloads.notes(issue))
    .filter(({ isSystem }) => !isSystem)
    .map((note) => ({
      id: note.text.id + 1_000_000,
      project_id: state.id,
      action_name: 'commented on',
      target_id: note.text.id,
      target_iid: note.text.id,
      target_type: note.thread ? 'DiffNote' : 'Note',
      author_id: note.text.author.id,
      target_title: note.issue.title,
      created_at: note.text.created,
      note: payloads.note(note),
      author: payloads.user(note.text.author),
      author_username: note.text.author.name,
    }));
  const isWanted = (day: string) => after === null || day.slice(0, 10) > after;
  return notes
    .filter(({ created_at }) => isWanted(created_at))
    .filter(() => wanted === null || wanted === 'note')
    .toReversed();
}
