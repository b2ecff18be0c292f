import type { Asked, PlayedAnswer } from './api-player.js';
import { jsonAnswer, changedSince, sortedBy, textIn, type ApiRoutes } from './api-routes.js';
import type { PlayedFork, PlayedPull } from './forge-records.js';
import { isPlayedPull } from './forge-state.js';
import { badBody, githubError, type GithubContext } from './github-answers.js';
import { githubReviewRoutes } from './github-review-routes.js';

type OnPull = (
  answer: (pull: PlayedPull, asked: Asked) => PlayedAnswer | undefined,
) => (asked: Asked) => PlayedAnswer | undefined;

/** GitHub’s routes of pull requests. */
export function githubPullRoutes(context: GithubContext): ApiRoutes {
  const { state, payloads, checks, page } = context;
  const by = state.self;
  const onPull: OnPull = (answer) => (asked) => {
    const issue = state.numbered(Number(asked.at('n')), 'pull');
    return isPlayedPull(issue) ? answer(issue, asked) : undefined;
  };
  return {
    ...githubReviewRoutes(context, onPull),
    'GET R/pulls': (asked) => page(asked, listedPulls(context, asked), payloads.pull),
    'POST R/pulls': ({ body }) => opened(context, body),
    'GET R/pulls/:n': onPull((pull) => jsonAnswer(payloads.wholePull(pull))),
    'PATCH R/pulls/:n': onPull((pull, { body }) => {
      const refusal = pull.author === by ? undefined : context.refused('write');
      if (refusal) return refusal;
      if (body['state'] !== undefined) state.setOpen(pull, body['state'] === 'open', { by });
      const [title, text] = [textIn(body, 'title'), textIn(body, 'body')];
      const tooLong = text === undefined ? undefined : badBody(text, 'PullRequest');
      if (tooLong) return tooLong;
      if (title !== undefined || text !== undefined)
        state.editIssue(pull, {
          by,
          ...(title !== undefined && { title }),
          ...(text !== undefined && { body: text }),
        });
      return jsonAnswer(payloads.wholePull(pull));
    }),
    'GET R/pulls/:n/files': onPull((pull, asked) => {
      const { baseSha, sha } = pull.pull;
      const words: Record<string, string> = { A: 'added', M: 'modified', D: 'removed' };
      return page(asked, state.git.files(baseSha, sha), ({ status, path }) => ({
        sha,
        filename: path,
        status: words[status] ?? 'changed',
        patch: state.git.patch(baseSha, sha, path),
      }));
    }),
    'GET R/pulls/:n/commits': onPull((pull, asked) =>
      page(asked, state.git.commits(pull.pull.baseSha, pull.pull.sha), checks.commit),
    ),
    'PUT R/pulls/:n/merge': onPull((pull, { body }) => {
      const refusal = context.refused('write');
      if (refusal) return refusal;
      const sha = textIn(body, 'sha');
      if (sha !== undefined && sha !== pull.pull.sha)
        return githubError(409, 'Head branch was modified. Review and try the merge again.');
      const merged = pull.isOpen && !pull.pull.isDraft ? state.merge(pull, { by }) : undefined;
      if (merged === undefined) return githubError(405, 'Pull Request is not mergeable');
      return jsonAnswer({ sha: merged, merged: true, message: 'Pull Request successfully merged' });
    }),
  };
}

function listedPulls({ state }: GithubContext, { query }: Asked): PlayedPull[] {
  const wanted = query.get('state') ?? 'open';
  const [head, base] = [query.get('head'), query.get('base')];
  const owner = state.path.split('/')[0] ?? '';
  const fitting = state.pulls.filter(({ isOpen, pull }) => {
    const label = `${pull.fork?.owner.name ?? owner}:${pull.branch}`;
    const isHead = head === null || !head.includes(':') || label === head;
    const isBase = base === null || pull.base === base;
    return isHead && isBase && (wanted === 'all' || isOpen === (wanted === 'open'));
  });
  const order = query.get('sort') === 'updated' ? 'updated' : 'created';
  const usual = order === 'created' ? 'desc' : 'asc';
  return sortedBy(changedSince(fitting, null), order, query.get('direction') ?? usual);
}

function opened(context: GithubContext, body: Record<string, unknown>): PlayedAnswer {
  const { state, payloads } = context;
  const invalid = (more: object) =>
    githubError(422, 'Validation Failed', [{ resource: 'PullRequest', ...more }]);
  const [head, base, title] = ['head', 'base', 'title'].map((key) => textIn(body, key));
  if (head === undefined || base === undefined || title === undefined)
    return githubError(422, 'Invalid request.\n\n"head", "base" and "title" are needed.');
  const tooLong = badBody(textIn(body, 'body') ?? '', 'PullRequest');
  if (tooLong) return tooLong;
  const { branch, owner, fork } = headOf(context, head);
  const tip = state.git.resolve(`refs/heads/${base}`);
  const sha =
    fork === undefined ? undefined : state.git.resolve(`refs/heads/${branch}`, fork?.folder);
  if (tip === undefined) return invalid({ field: 'base', code: 'invalid' });
  if (fork === undefined || sha === undefined) return invalid({ field: 'head', code: 'invalid' });
  const isOpened = ({ isOpen, pull }: PlayedPull) =>
    isOpen && pull.branch === branch && pull.base === base && pull.fork === fork;
  const custom = (message: string) => invalid({ code: 'custom', message });
  if (state.pulls.some(isOpened))
    return custom(`A pull request already exists for ${owner}:${branch}.`);
  if (sha === tip) return custom(`No commits between ${base} and ${branch}`);
  const pull = state.openPull({
    by: state.self,
    branch,
    base,
    title,
    body: textIn(body, 'body') ?? '',
    isDraft: body['draft'] === true,
    fork,
  });
  return jsonAnswer(payloads.wholePull(pull), 201);
}

/** The branch that a request names; `OWNER:BRANCH` may be that of a fork. */
function headOf(
  { state }: GithubContext,
  head: string,
): { branch: string; owner: string; fork: PlayedFork | null | undefined } {
  const own = state.path.split('/')[0] ?? '';
  const [owner = '', branch = ''] = head.includes(':') ? head.split(':', 2) : [own, head];
  const fork = state.forks.find((one) => one.owner.name === owner && !one.isDeleted);
  return { branch, owner, fork: owner === own ? null : fork };
}
