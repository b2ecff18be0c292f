import type { Asked, PlayedAnswer } from './api-player.js';
import {
  jsonAnswer,
  changedSince,
  recordsIn,
  sortedBy,
  textIn,
  type ApiRoutes,
} from './api-routes.js';
import type { PlayedLineComment, PlayedPull, PlayedThread } from './forge-records.js';
import { badBody, githubError, type GithubContext } from './github-answers.js';
import { addReaction, reactionList } from './github-issue-routes.js';
import type { NewLine } from './repository-state.js';

interface LineComment extends PlayedLineComment {
  issue: PlayedPull;
  thread: PlayedThread;
  comment: PlayedLineComment;
}

type OnPull = (
  answer: (pull: PlayedPull, asked: Asked) => PlayedAnswer | undefined,
) => (asked: Asked) => PlayedAnswer | undefined;

/** GitHub’s routes of reviews and of comments on lines. */
export function githubReviewRoutes(context: GithubContext, onPull: OnPull): ApiRoutes {
  const { payloads, page } = context;
  const shown = ({ issue, thread, comment }: LineComment) => payloads.line(issue, thread, comment);
  return {
    ...lineRoutes(context, shown),
    'GET R/pulls/:n/reviews': onPull((pull, asked) =>
      page(asked, pull.pull.reviews, (one) => payloads.review(pull, one)),
    ),
    'POST R/pulls/:n/reviews': onPull((pull, { body }) => reviewed(context, pull, body)),
    'GET R/pulls/:n/reviews/:id': onPull((pull, { at }) => {
      const one = pull.pull.reviews.find(({ id }) => String(id) === at('id'));
      return one && jsonAnswer(payloads.review(pull, one));
    }),
    'GET R/pulls/:n/reviews/:id/comments': onPull((pull, asked) =>
      page(
        asked,
        linesOf(pull).filter(({ review }) => String(review) === asked.at('id')),
        shown,
      ),
    ),
    'GET R/pulls/:n/comments': onPull((pull, asked) =>
      page(asked, listedLines(linesOf(pull), asked), shown),
    ),
    'POST R/pulls/:n/comments': onPull((pull, { body }) => {
      const replied = pull.pull.threads.find(({ id }) => id === body['in_reply_to']);
      return replied
        ? reply(context, { pull, thread: replied, body })
        : lineAdded(context, pull, body);
    }),
    'POST R/pulls/:n/comments/:id/replies': onPull((pull, { at, body }) => {
      const thread = pull.pull.threads.find(({ id }) => String(id) === at('id'));
      return thread && reply(context, { pull, thread, body });
    }),
  };
}

function lineRoutes(context: GithubContext, shown: (line: LineComment) => object): ApiRoutes {
  const { state, page } = context;
  const all = () => state.pulls.flatMap(linesOf);
  const found = ({ at }: Asked) => all().find(({ id }) => String(id) === at('id'));
  return {
    'GET R/pulls/comments': (asked) => page(asked, listedLines(all(), asked), shown),
    'GET R/pulls/comments/:id': (asked) => {
      const one = found(asked);
      return one && jsonAnswer(shown(one));
    },
    'PATCH R/pulls/comments/:id': (asked) => {
      const one = found(asked);
      const refusal = badBody(textIn(asked.body, 'body'), 'PullRequestReviewComment');
      if (!one || refusal) return refusal;
      state.editComment(one.comment, textIn(asked.body, 'body') ?? '', { by: state.self });
      return jsonAnswer(shown(one));
    },
    'GET R/pulls/comments/:id/reactions': (asked) => {
      const one = found(asked);
      return one && reactionList(context, one.comment, asked);
    },
    'POST R/pulls/comments/:id/reactions': (asked) => {
      const one = found(asked);
      return one && addReaction(context, one.comment, asked);
    },
  };
}

const linesOf = (issue: PlayedPull): LineComment[] =>
  issue.pull.threads
    .flatMap((thread) => thread.comments.map((comment) => ({ ...comment, issue, thread, comment })))
    .toSorted((a, b) => a.id - b.id);

function listedLines(lines: readonly LineComment[], { query }: Asked): LineComment[] {
  const order = query.get('sort') === 'updated' ? 'updated' : 'created';
  const list = changedSince(lines, query.get('since'));
  return sortedBy(list, order, query.get('direction') ?? 'asc');
}

const verdicts: Record<string, 'approved' | 'changes' | 'comment'> = {
  APPROVE: 'approved',
  REQUEST_CHANGES: 'changes',
  COMMENT: 'comment',
};

function reviewed(
  { state, payloads }: GithubContext,
  pull: PlayedPull,
  body: Record<string, unknown>,
): PlayedAnswer {
  const by = state.self;
  const refused = (error: string) => githubError(422, 'Unprocessable Entity', [error]);
  const verdict = verdicts[textIn(body, 'event') ?? ''];
  const comments = recordsIn(body, 'comments');
  const text = textIn(body, 'body') ?? '';
  if (verdict === undefined) return refused('Variable $event of type PullRequestReviewEvent!');
  if (pull.author === by && verdict !== 'comment')
    return refused(
      `Can not ${verdict === 'approved' ? 'approve' : 'request changes on'} your own pull request`,
    );
  if (text === '' && comments.length === 0 && verdict !== 'approved')
    return refused('Body is too short (minimum is 1 character)');
  const commit = textIn(body, 'commit_id');
  if (
    commit !== undefined &&
    !isCommitOf(state.git.commits(pull.pull.baseSha, pull.pull.sha), commit)
  )
    return refused('Commit is not part of the pull request');
  const lines = comments.map(lineOf);
  // One line outside the change refuses the whole review.
  for (const line of lines)
    if (!state.isOnChange(pull, line))
      return refused(
        state.git.patch(pull.pull.baseSha, pull.pull.sha, line.path) === ''
          ? 'Path could not be resolved'
          : 'Line could not be resolved',
      );
  const review = state.review(pull, { by, verdict, body: text, lines });
  return jsonAnswer(payloads.review(pull, review));
}

const isCommitOf = (commits: readonly { id: string }[], sha: string): boolean =>
  commits.some(({ id }) => id === sha);

const lineOf = (comment: Record<string, unknown>): NewLine => ({
  path: textIn(comment, 'path') ?? '',
  line: Number(comment['line']),
  side: comment['side'] === 'LEFT' ? 'old' : 'new',
  body: textIn(comment, 'body') ?? '',
});

function lineAdded(
  { state, payloads }: GithubContext,
  pull: PlayedPull,
  body: Record<string, unknown>,
): PlayedAnswer {
  const refusal = badBody(textIn(body, 'body'), 'PullRequestReviewComment');
  if (refusal) return refusal;
  const line = lineOf(body);
  if (!state.isOnChange(pull, line)) {
    const field = 'pull_request_review_thread.line';
    const message = `${field} must be part of the diff`;
    const resource = 'PullRequestReviewComment';
    return githubError(422, 'Validation Failed', [{ resource, code: 'custom', field, message }]);
  }
  state.review(pull, { by: state.self, verdict: 'comment', lines: [line] });
  const thread = pull.pull.threads.at(-1);
  const comment = thread?.comments[0];
  return thread && comment
    ? jsonAnswer(payloads.line(pull, thread, comment), 201)
    : githubError(500, 'Server Error');
}

function reply(
  { state, payloads }: GithubContext,
  { pull, thread, body }: { pull: PlayedPull; thread: PlayedThread; body: Record<string, unknown> },
): PlayedAnswer {
  const refusal = badBody(textIn(body, 'body'), 'PullRequestReviewComment');
  if (refusal) return refusal;
  const text = textIn(body, 'body') ?? '';
  const comment = state.reply(pull, thread, { by: state.self, body: text });
  return jsonAnswer(payloads.line(pull, thread, comment), 201);
}
