import type { Asked, PlayedAnswer } from './api-player.js';
import { jsonAnswer, textIn, type ApiRoutes } from './api-routes.js';
import type { PlayedFork, PlayedPull } from './forge-records.js';
import { isPlayedPull } from './forge-state.js';
import { gitlabError, gitlabMissing, type GitlabContext, type OnMerge } from './gitlab-answers.js';
import { gitlabDiscussionRoutes } from './gitlab-discussion-routes.js';
import { gitlabListed } from './gitlab-issue-routes.js';
import { gitlabDraft } from './gitlab-payloads.js';

/** GitLab’s routes of merge requests. */
export function gitlabMergeRoutes(context: GitlabContext): ApiRoutes {
  const { state, payloads, page } = context;
  const onMerge: OnMerge = (answer) => (asked) => {
    const issue = state.numbered(Number(asked.at('n')), 'pull');
    return isPlayedPull(issue) ? answer(issue, asked) : undefined;
  };
  return {
    ...gitlabDiscussionRoutes(context, onMerge),
    'GET P/merge_requests': (asked) => page(asked, listedMerges(context, asked), payloads.merge),
    'POST P/merge_requests': ({ body }) => openMerge(context, body, null),
    'GET P/merge_requests/:n/diffs': onMerge((pull, asked) =>
      page(asked, state.git.files(pull.pull.baseSha, pull.pull.sha), ({ status, path }) => ({
        old_path: path,
        new_path: path,
        a_mode: status === 'A' ? '0' : '100644',
        b_mode: status === 'D' ? '0' : '100644',
        diff: state.git.patch(pull.pull.baseSha, pull.pull.sha, path),
        new_file: status === 'A',
        renamed_file: false,
        deleted_file: status === 'D',
        generated_file: false,
      })),
    ),
    'GET P/merge_requests/:n/versions': onMerge((pull) =>
      jsonAnswer([
        {
          id: pull.id,
          head_commit_sha: pull.pull.sha,
          base_commit_sha: pull.pull.baseSha,
          start_commit_sha: pull.pull.baseSha,
          created_at: pull.updated,
          merge_request_id: pull.id,
          state: 'collected',
          real_size: '1',
        },
      ]),
    ),
    'GET P/merge_requests/:n/commits': onMerge((pull, asked) =>
      page(
        asked,
        state.git.commits(pull.pull.baseSha, pull.pull.sha).toReversed(),
        payloads.commits.commit,
      ),
    ),
    'GET P/merge_requests/:n/pipelines': onMerge(({ pull }) => {
      const pipeline = payloads.commits.pipeline(pull.sha);
      return jsonAnswer(pipeline ? [pipeline] : []);
    }),
    ...approvalRoutes(context, onMerge),
    'PUT P/merge_requests/:n/merge': onMerge((pull, { body }) => {
      const refusal = context.refused('write');
      if (refusal) return { status: 401, body: { message: '401 Unauthorized' } };
      const sha = textIn(body, 'sha');
      if (sha !== undefined && sha !== pull.pull.sha)
        return gitlabError(409, 'SHA does not match HEAD of source branch: ' + pull.pull.sha);
      const isReady = pull.isOpen && !pull.pull.isDraft;
      if (!isReady || state.merge(pull, { by: state.self }) === undefined)
        return gitlabError(405, '405 Method Not Allowed');
      return jsonAnswer(payloads.wholeMerge(pull));
    }),
  };
}

function approvalRoutes({ payloads }: GitlabContext, onMerge: OnMerge): ApiRoutes {
  return {
    'GET P/merge_requests/:n/approvals': onMerge((pull) => {
      const approved = pull.pull.reviews.filter(({ verdict }) => verdict === 'approved');
      const by = approved.map(({ author, created }) => ({
        user: payloads.user(author),
        approved_at: created,
      }));
      const counts = { approvals_required: 0, approvals_left: 0 };
      const own = { user_has_approved: false, user_can_approve: true };
      return jsonAnswer({ approved: by.length > 0, approved_by: by, ...counts, ...own });
    }),
    'GET P/merge_requests/:n/reviewers': onMerge(({ pull }) => {
      const words = { approved: 'approved', changes: 'requested_changes', comment: 'reviewed' };
      return jsonAnswer(
        pull.reviews.map(({ author, verdict, created }) => ({
          user: payloads.user(author),
          state: words[verdict],
          created_at: created,
        })),
      );
    }),
  };
}

function listedMerges({ state }: GitlabContext, asked: Asked): PlayedPull[] {
  const [source, target] = [asked.query.get('source_branch'), asked.query.get('target_branch')];
  return gitlabListed(state.pulls, asked).filter(
    ({ pull }) =>
      (source === null || pull.branch === source) && (target === null || pull.base === target),
  );
}

/** Opens a merge request from a branch of the project or of a fork. */
export function openMerge(
  context: GitlabContext,
  body: Record<string, unknown>,
  fork: PlayedFork | null,
): PlayedAnswer {
  const { state, payloads } = context;
  const [title, branch, base] = ['title', 'source_branch', 'target_branch'].map((key) =>
    textIn(body, key),
  );
  if (title === undefined) return gitlabMissing('title');
  if (branch === undefined) return gitlabMissing('source_branch');
  if (base === undefined) return gitlabMissing('target_branch');
  const refusal = fork ? undefined : context.refused('write');
  if (refusal) return refusal;
  const tip = state.git.resolve(`refs/heads/${base}`);
  const sha = state.git.resolve(`refs/heads/${branch}`, fork?.folder);
  if (sha === undefined)
    return gitlabError(400, { source_branch: ['"' + branch + '" does not exist'] });
  if (tip === undefined)
    return gitlabError(400, { base: ['Target branch "' + base + '" does not exist'] });
  const isSame = ({ isOpen, pull }: PlayedPull) =>
    isOpen && pull.branch === branch && pull.base === base && pull.fork === fork;
  const other = state.pulls.find(isSame);
  if (other)
    return gitlabError(409, [
      `Another open merge request already exists for this source branch: !${other.number}`,
    ]);
  const isDraft = gitlabDraft.test(title);
  const text = textIn(body, 'description') ?? '';
  const made = { by: state.self, branch, base, title, body: text, isDraft, fork };
  return jsonAnswer(payloads.wholeMerge(state.openPull(made)), 201);
}
