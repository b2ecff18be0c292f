import type { Asked, PlayedAnswer } from './api-player.js';
import { jsonAnswer, recordsIn, sortedBy, textIn, type ApiRoutes } from './api-routes.js';
import type { PlayedFork, PlayedPull } from './forge-records.js';
import { isPlayedPull } from './forge-state.js';
import { giteaError, giteaNotFound, type GiteaContext } from './gitea-answers.js';
import { changeGiteaIssue } from './gitea-issue-routes.js';
import { giteaDraft } from './gitea-payloads.js';

type OnPull = (
  answer: (pull: PlayedPull, asked: Asked) => PlayedAnswer | undefined,
) => (asked: Asked) => PlayedAnswer | undefined;

/** Gitea’s routes of pull requests and reviews. */
export function giteaPullRoutes(context: GiteaContext): ApiRoutes {
  const { state, payloads, commits, page } = context;
  const by = state.self;
  const onPull: OnPull = (answer) => (asked) => {
    const issue = state.numbered(Number(asked.at('n')), 'pull');
    return isPlayedPull(issue) ? answer(issue, asked) : undefined;
  };
  return {
    ...reviewRoutes(context, onPull),
    'GET R/pulls': (asked) => page(asked, listedPulls(context, asked), payloads.pull),
    'POST R/pulls': ({ body }) => opened(context, body),
    'GET R/pulls/:n': onPull((pull) => jsonAnswer(payloads.pull(pull))),
    'PATCH R/pulls/:n': onPull((pull, { body }) => {
      const refusal = pull.author === by ? undefined : context.refused('write');
      if (refusal) return refusal;
      changeGiteaIssue(context, pull, body);
      return jsonAnswer(payloads.pull(pull), 201);
    }),
    'GET R/pulls/:n/files': onPull((pull, asked) => {
      const words: Record<string, string> = { A: 'added', M: 'changed', D: 'deleted' };
      const files = state.git.files(pull.pull.baseSha, pull.pull.sha);
      return page(asked, files, ({ status, path }) => ({
        filename: path,
        status: words[status] ?? 'changed',
      }));
    }),
    'GET R/pulls/:n/commits': onPull((pull, asked) =>
      page(asked, state.git.commits(pull.pull.baseSha, pull.pull.sha).toReversed(), commits.commit),
    ),
    'POST R/pulls/:n/merge': onPull((pull) => {
      const isReady = pull.isOpen && !pull.pull.isDraft && !context.refused('write');
      if (!isReady) return giteaError(405, 'Please try again later');
      if (state.merge(pull, { by }) === undefined) return giteaError(409, 'merge conflict');
      return { status: 200 };
    }),
    // After the routes with words, as it takes any two names: the open request of these branches.
    'GET R/pulls/:base/:head': ({ at }) => {
      const found = state.pulls.find(
        (one) => one.isOpen && one.pull.base === at('base') && headName(one) === at('head'),
      );
      return found ? jsonAnswer(payloads.pull(found)) : giteaNotFound;
    },
  };
}

const headName = ({ pull }: PlayedPull): string =>
  pull.fork ? `${pull.fork.owner.name}:${pull.branch}` : pull.branch;

function reviewRoutes(context: GiteaContext, onPull: OnPull): ApiRoutes {
  const { payloads, page } = context;
  return {
    'GET R/pulls/:n/reviews': onPull((pull, asked) =>
      page(asked, pull.pull.reviews, (one) => payloads.review(pull, one)),
    ),
    'POST R/pulls/:n/reviews': onPull((pull, { body }) => reviewed(context, pull, body)),
    'GET R/pulls/:n/reviews/:id': onPull((pull, { at }) => {
      const found = pull.pull.reviews.find(({ id }) => String(id) === at('id'));
      return found && jsonAnswer(payloads.review(pull, found));
    }),
    'GET R/pulls/:n/reviews/:id/comments': onPull((pull, { at }) =>
      jsonAnswer(
        pull.pull.threads.flatMap((thread) =>
          thread.comments
            .filter(({ review }) => String(review) === at('id'))
            .map((comment) => payloads.line(pull, thread, comment)),
        ),
      ),
    ),
  };
}

const verdicts: Record<string, 'approved' | 'changes' | 'comment'> = {
  APPROVED: 'approved',
  REQUEST_CHANGES: 'changes',
  COMMENT: 'comment',
};

/** Adds a review. Gitea takes comments on any line, also outside the change; one on a line with a thread joins it. */
function reviewed(
  { state, payloads }: GiteaContext,
  pull: PlayedPull,
  body: Record<string, unknown>,
): PlayedAnswer {
  const by = state.self;
  const verdict = verdicts[textIn(body, 'event') ?? ''];
  const text = textIn(body, 'body') ?? '';
  const comments = recordsIn(body, 'comments');
  if (verdict === undefined) return giteaError(422, 'review event type wrong');
  if (pull.author === by && verdict !== 'comment')
    return giteaError(
      422,
      `${verdict === 'approved' ? 'approve' : 'reject'} your own pull is not allowed`,
    );
  if (text === '' && comments.length === 0 && verdict !== 'approved')
    return giteaError(
      422,
      `review event ${textIn(body, 'event') ?? ''} requires a body or a comment`,
    );
  const lines = comments.map((comment) => {
    const fresh = Number(comment['new_position'] ?? 0);
    return {
      path: textIn(comment, 'path') ?? '',
      line: fresh || Number(comment['old_position'] ?? 0),
      side: fresh > 0 ? ('new' as const) : ('old' as const),
      body: textIn(comment, 'body') ?? '',
    };
  });
  const review = state.review(pull, { by, verdict, body: text, lines, joins: true });
  return jsonAnswer(payloads.review(pull, review));
}

function listedPulls({ state }: GiteaContext, { query }: Asked): PlayedPull[] {
  const wanted = query.get('state') ?? 'open';
  const fitting = state.pulls.filter(
    ({ isOpen }) => wanted === 'all' || isOpen === (wanted === 'open'),
  );
  const order = query.get('sort') === 'recentupdate' ? 'updated' : 'created';
  return sortedBy(fitting, order, query.get('sort') === 'oldest' ? 'asc' : 'desc');
}

function opened(context: GiteaContext, body: Record<string, unknown>): PlayedAnswer {
  const { state, payloads } = context;
  const [head, base, title] = ['head', 'base', 'title'].map((key) => textIn(body, key));
  if (head === undefined || base === undefined || title === undefined)
    return giteaError(422, '[Head]: Required');
  const { branch, fork, isKnown } = headOf(context, head);
  const tip = state.git.resolve(`refs/heads/${base}`);
  const sha = isKnown ? state.git.resolve(`refs/heads/${branch}`, fork?.folder) : undefined;
  if (tip === undefined || sha === undefined) return giteaNotFound;
  const other = state.pulls.find((one) => isSame(one, { branch, base, fork }));
  if (other)
    return giteaError(
      409,
      `pull request already exists for these targets [id: ${other.id}, issue_id: ${other.id}, head_repo_id: ${fork?.id ?? state.id}, base_repo_id: ${state.id}, head_branch: ${branch}, base_branch: ${base}]`,
    );
  const isDraft = giteaDraft.test(title);
  const text = textIn(body, 'body') ?? '';
  const made = { by: state.self, branch, base, title, body: text, isDraft, fork };
  return jsonAnswer(payloads.pull(state.openPull(made)), 201);
}

/** The branch that a request names; `OWNER:BRANCH` may be that of a fork. */
function headOf(
  { state }: GiteaContext,
  head: string,
): { branch: string; fork: PlayedFork | null; isKnown: boolean } {
  const own = state.path.split('/')[0] ?? '';
  const [owner = '', branch = ''] = head.includes(':') ? head.split(':', 2) : [own, head];
  const fork = state.forks.find((one) => one.owner.name === owner && !one.isDeleted) ?? null;
  return { branch, fork, isKnown: owner === own || fork !== null };
}

const isSame = (
  { isOpen, pull }: PlayedPull,
  { branch, base, fork }: { branch: string; base: string; fork: PlayedFork | null },
): boolean => isOpen && pull.branch === branch && pull.base === base && pull.fork === fork;
