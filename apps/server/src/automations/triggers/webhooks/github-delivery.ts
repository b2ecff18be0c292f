import { ownValue, type ForgeUser, type Occurrence } from '@belay/protocol';
import { z } from 'zod';
import { eventKey, hashOfText, timedKey } from '../event-keys.js';
import {
  askChecks,
  branchOf,
  commentOccurrence,
  found,
  ignored,
  isNoCommit,
  noCommand,
  payloadId,
  payloadName,
  payloadNumber,
  payloadSha,
  payloadText,
  payloadTime,
  type ReadPayload,
} from './payload-parts.js';

export const sentGithubUser = z
  .object({ id: payloadId, login: payloadName, type: z.string().max(40).optional() })
  .transform(({ id, login, type }): ForgeUser => ({
    id,
    name: login,
    isBot: type === 'Bot' || login.endsWith('[bot]'),
  }));

const issue = z.object({
  number: payloadNumber,
  title: payloadText,
  body: payloadText.nullish(),
  updated_at: payloadTime,
  pull_request: z.unknown().optional(),
});
const pull = issue.extend({
  head: z.object({ ref: payloadName, sha: payloadSha }),
  draft: z.boolean().nullish(),
});
const comment = z.object({ id: payloadId, body: payloadText, created_at: payloadTime });
const lineComment = comment.extend({ pull_request_review_id: payloadId.nullish() });
const label = z.object({ name: payloadName });
const sender = sentGithubUser;

/** Reads one kind of event; `now` is the time of what has none itself. */
type Reader = (payload: unknown, action: string, now: string) => ReadPayload;

const readers: Readonly<Record<string, Reader>> = {
  issues: readIssue,
  issue_comment: readComment,
  pull_request: readPull,
  pull_request_review: readReview,
  pull_request_review_comment: readLineComment,
  check_suite: readChecks('check_suite'),
  check_run: readChecks('check_run'),
  workflow_run: readChecks('workflow_run'),
  status: readStatus,
  push: readPush,
  release: readRelease,
};

/** What a payload of GitHub says. Throws a `ZodError` for one that is not of the documented form. */
export function readGithubDelivery(event: string, payload: unknown, now: string): ReadPayload {
  if (event === 'ping') return { occurrences: [], isPing: true };
  const { action = '' } = z.object({ action: z.string().max(100).optional() }).parse(payload);
  const read = ownValue(readers, event);
  return read ? read(payload, action, now) : ignored(`Events ${event} begin no runs.`);
}

function readIssue(payload: unknown, action: string, now: string): ReadPayload {
  if (!['opened', 'labeled', 'assigned'].includes(action))
    return ignored(`issues with the action ${action} begin no runs.`);
  const of = z
    .object({ issue, sender, label: label.optional(), assignee: sentGithubUser.nullish() })
    .parse(payload);
  const at = of.issue.updated_at ?? now;
  const { number } = of.issue;
  const same = { at, actor: of.sender, number, textSha256: hashOfIssue(of.issue) };
  if (action === 'opened')
    return found({ ...same, event: 'issue.opened', key: eventKey('issue', number, 'opened') });
  if (action === 'labeled' && of.label) return found(labelled('issue', of.label.name, same));
  if (action === 'assigned' && of.assignee) {
    const { name } = of.assignee;
    const key = timedKey(at, 'assign', number, name);
    return found({ ...same, event: 'issue.assigned', key, assignee: name });
  }
  return ignored(`The event does not say what was ${action}.`);
}

type Same = Pick<
  Occurrence,
  'at' | 'actor' | 'number' | 'sha' | 'branch' | 'textSha256' | 'textChanged'
>;

/**
 * A label that was set, with the same key from a webhook and from a list of events. At GitLab, an issue and a merge request
 * may have the same number.
 */
export const labelled = (kind: 'issue' | 'pull', name: string, same: Same): Occurrence => ({
  ...same,
  event: `${kind}.labelled`,
  key: timedKey(same.at, kind === 'pull' ? 'pull-label' : 'label', same.number ?? 0, name),
  label: name,
});

function readComment(payload: unknown, action: string, now: string): ReadPayload {
  if (action !== 'created') return ignored('Only new comments count.');
  const of = z.object({ issue, comment, sender }).parse(payload);
  const isPull = of.issue.pull_request !== undefined && of.issue.pull_request !== null;
  const { id, body, created_at: at = now } = of.comment;
  const { number } = of.issue;
  const said = commentOccurrence({ id, body, at, number, isPull, actor: of.sender });
  return said ? found(said) : ignored(noCommand);
}

function readLineComment(payload: unknown, action: string, now: string): ReadPayload {
  if (action !== 'created') return ignored('Only new comments count.');
  const of = z.object({ pull_request: pull, comment: lineComment, sender }).parse(payload);
  const { id, body, created_at: at = now } = of.comment;
  const { number, head } = of.pull_request;
  const said = commentOccurrence({
    id,
    body,
    at,
    number,
    isPull: true,
    actor: of.sender,
    series: 'line-comment',
    review: githubReviewKey(of.comment.pull_request_review_id),
  });
  return said ? found({ ...said, sha: head.sha, branch: head.ref }) : ignored(noCommand);
}

/** The key of a review, which each of its comments names; also a comment or a reply alone is one of its own. */
export const githubReviewKey = (id: string | null | undefined): string | undefined =>
  id === null || id === undefined ? undefined : eventKey('review', id);

function readPull(payload: unknown, action: string, now: string): ReadPayload {
  const counts = ['opened', 'reopened', 'ready_for_review', 'synchronize', 'labeled'];
  if (!counts.includes(action))
    return ignored(`pull_request with the action ${action} begins no runs.`);
  const of = z.object({ pull_request: pull, sender, label: label.optional() }).parse(payload);
  const { number, head } = of.pull_request;
  const at = of.pull_request.updated_at ?? now;
  const textSha256 = hashOfIssue(of.pull_request);
  const same = { at, actor: of.sender, number, sha: head.sha, branch: head.ref, textSha256 };
  if (action === 'synchronize')
    return found({ ...same, event: 'pull.updated', key: eventKey('pull', number, head.sha) });
  if (action === 'labeled')
    return of.label
      ? found(labelled('pull', of.label.name, same))
      : ignored('The event does not say which label was set.');
  const key =
    action === 'opened'
      ? eventKey('pull', number, 'opened')
      : timedKey(at, 'pull', number, 'opened again');
  return found({ ...same, event: 'pull.opened', key });
}

const verdicts: Readonly<Record<string, string>> = {
  approved: 'approved',
  changes_requested: 'changes',
  commented: 'comment',
};

/** The verdict of a review; undefined for one that is not sent yet, or was withdrawn. */
export const githubVerdict = (state: string): string | undefined => {
  const name = state.toLowerCase();
  return ownValue(verdicts, name);
};

function readReview(payload: unknown, action: string, now: string): ReadPayload {
  if (action !== 'submitted') return ignored('Only new reviews count.');
  const review = z.object({
    id: payloadId,
    state: z.string().max(40),
    body: payloadText.nullish(),
    submitted_at: payloadTime,
  });
  const of = z.object({ pull_request: pull, review, sender }).parse(payload);
  const verdict = githubVerdict(of.review.state);
  if (verdict === undefined) return ignored(`A review with the state ${of.review.state}.`);
  const { number, head } = of.pull_request;
  const key = eventKey('review', of.review.id);
  return found({
    event: 'pull.reviewed',
    key,
    review: key,
    at: of.review.submitted_at ?? now,
    actor: of.sender,
    number,
    sha: head.sha,
    branch: head.ref,
    comment: of.review.id,
    verdict,
    textSha256: hashOfText(of.review.body ?? ''),
  });
}

function readChecks(name: 'check_suite' | 'check_run' | 'workflow_run'): Reader {
  const numbers = z.array(z.object({ number: payloadNumber })).max(300);
  const checks = z.object({
    head_sha: payloadSha,
    head_branch: payloadName.nullish(),
    pull_requests: numbers.nullish(),
    updated_at: payloadTime,
    check_suite: z.object({ head_branch: payloadName.nullish() }).nullish(),
  });
  return (payload, action, now) => {
    if (action !== 'completed') return ignored('Only checks that have ended count.');
    const of = z.looseObject({ [name]: checks }).parse(payload)[name] as z.output<typeof checks>;
    const branch = of.head_branch ?? of.check_suite?.head_branch ?? undefined;
    const number = of.pull_requests?.[0]?.number;
    return askChecks(of.head_sha, { at: of.updated_at ?? now, branch, number });
  };
}

function readStatus(payload: unknown, _action: string, now: string): ReadPayload {
  const of = z
    .object({ sha: payloadSha, state: z.string().max(40), updated_at: payloadTime })
    .parse(payload);
  if (of.state === 'pending') return ignored('Only checks that have ended count.');
  return askChecks(of.sha, { at: of.updated_at ?? now });
}

function readPush(payload: unknown, _action: string, now: string): ReadPayload {
  const of = z.object({ ref: payloadName, after: payloadSha, sender }).parse(payload);
  return pushed(of.ref, of.after, { at: now, actor: of.sender });
}

/** A push to a branch; the same for all hosts. */
export function pushed(
  ref: string,
  sha: string,
  { at, actor }: Pick<Occurrence, 'at' | 'actor'>,
): ReadPayload {
  const branch = branchOf(ref);
  if (branch === undefined) return ignored('Only pushes to branches count.');
  if (isNoCommit(sha)) return ignored('The branch was deleted.');
  return found({ event: 'push', key: eventKey('push', ref, sha), at, actor, branch, sha });
}

function readRelease(payload: unknown, action: string, now: string): ReadPayload {
  if (action !== 'published') return ignored('Only published releases count.');
  const release = z.object({ id: payloadId, tag_name: payloadName, published_at: payloadTime });
  const of = z.object({ release, sender }).parse(payload);
  const { id, tag_name: tag, published_at: at = now } = of.release;
  const key = eventKey('release', id);
  return found({ event: 'release.published', key, at, actor: of.sender, tag });
}

/** Title and body together: an edit of either one is recognized. */
export const hashOfIssue = ({
  title,
  body,
}: {
  title: string;
  body?: string | null | undefined;
}): string => hashOfText(`${title}\n${body ?? ''}`);
