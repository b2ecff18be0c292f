import { ownValue, type ForgeUser, type Occurrence } from '@belay/protocol';
import { z } from 'zod';
import { eventKey, timedKey } from '../event-keys.js';
import { pushed, hashOfIssue } from './github-delivery.js';
import {
  askChecks,
  commentOccurrence,
  found,
  ignored,
  noCommand,
  payloadId,
  payloadName,
  payloadNumber,
  payloadSha,
  payloadText,
  payloadTime,
  type ReadPayload,
} from './payload-parts.js';

/** The users that Gitea and Forgejo act as themselves have numbers below zero. */
export const sentGiteaUser = z
  .object({ id: z.int(), login: payloadName })
  .transform(({ id, login }): ForgeUser => ({
    id: String(id),
    name: login,
    isBot: id <= 0 || login.endsWith('[bot]'),
  }));

const issue = z.object({
  number: payloadNumber,
  title: payloadText,
  body: payloadText.nullish(),
  updated_at: payloadTime,
  pull_request: z.unknown().optional(),
});
const pull = issue.extend({ head: z.object({ ref: payloadName, sha: payloadSha }) });
const comment = z.object({ id: payloadId, body: payloadText, created_at: payloadTime });

type Reader = (payload: unknown, action: string, now: string) => ReadPayload;

const readers: Readonly<Record<string, Reader>> = {
  issues: readIssue,
  issue_label: readChange('issue.labelled', 'issue'),
  issue_assign: readChange('issue.assigned', 'issue'),
  issue_comment: readComment,
  pull_request: readPull,
  pull_request_sync: readPull,
  pull_request_label: readChange('pull.labelled', 'pull_request'),
  pull_request_comment: readComment,
  pull_request_review_approved: readReview('approved'),
  pull_request_review_rejected: readReview('changes'),
  pull_request_review_comment: readReview('comment'),
  status: readStatus,
  workflow_run: readWorkflowRun,
  action_run_failure: readActionRun,
  action_run_success: readActionRun,
  action_run_recover: readActionRun,
  push: readPush,
  release: readRelease,
};

/** What a payload of Gitea or Forgejo says. Throws a `ZodError` for one that is not of the documented form. */
export function readGiteaDelivery(event: string, payload: unknown, now: string): ReadPayload {
  const { action = '' } = z.object({ action: z.string().max(100).optional() }).parse(payload);
  const read = ownValue(readers, event);
  return read ? read(payload, action, now) : ignored(`Events ${event} begin no runs.`);
}

function readIssue(payload: unknown, action: string, now: string): ReadPayload {
  if (action !== 'opened') return ignored(`issues with the action ${action} begin no runs.`);
  const of = z.object({ issue, sender: sentGiteaUser }).parse(payload);
  const { number, updated_at: at = now } = of.issue;
  return found({
    event: 'issue.opened',
    key: eventKey('issue', number, 'opened'),
    at,
    actor: of.sender,
    number,
    textSha256: hashOfIssue(of.issue),
  });
}

/** It has all labels or assignees and not the new one, which the issue’s timeline has. */
function readChange(
  event: 'issue.labelled' | 'issue.assigned' | 'pull.labelled',
  field: 'issue' | 'pull_request',
): Reader {
  return (payload, action, now) => {
    if (!['label_updated', 'assigned'].includes(action))
      return ignored('Only labels and assignees that are added count.');
    const schema = field === 'issue' ? issue : pull;
    const of = z.looseObject({ [field]: schema, sender: sentGiteaUser }).parse(payload);
    const subject = of[field] as z.output<typeof issue> & Partial<z.output<typeof pull>>;
    const { number, updated_at: at = now } = subject;
    const occurrence: Occurrence = {
      event,
      key: eventKey('timeline', event, number),
      at,
      actor: sentGiteaUser.parse((payload as { sender: unknown }).sender),
      number,
      textSha256: hashOfIssue(subject),
      ...(subject.head && { sha: subject.head.sha, branch: subject.head.ref }),
    };
    return { occurrences: [occurrence], asks: true };
  };
}

function readComment(payload: unknown, action: string, now: string): ReadPayload {
  if (action !== 'created') return ignored('Only new comments count.');
  const of = z
    .object({ issue, comment, sender: sentGiteaUser, is_pull: z.boolean().nullish() })
    .parse(payload);
  const isPull =
    of.is_pull ?? (of.issue.pull_request !== undefined && of.issue.pull_request !== null);
  const { id, body, created_at: at = now } = of.comment;
  const { number } = of.issue;
  const said = commentOccurrence({ id, body, at, number, isPull, actor: of.sender });
  return said ? found(said) : ignored(noCommand);
}

function readPull(payload: unknown, action: string, now: string): ReadPayload {
  const counts = ['opened', 'reopened', 'synchronized', 'ready_for_review'];
  if (!counts.includes(action))
    return ignored(`pull_request with the action ${action} begins no runs.`);
  const of = z.object({ pull_request: pull, sender: sentGiteaUser }).parse(payload);
  const { number, head, updated_at: at = now } = of.pull_request;
  const textSha256 = hashOfIssue(of.pull_request);
  const same = { at, actor: of.sender, number, sha: head.sha, branch: head.ref, textSha256 };
  if (action === 'synchronized')
    return found({ ...same, event: 'pull.updated', key: eventKey('pull', number, head.sha) });
  const key =
    action === 'opened'
      ? eventKey('pull', number, 'opened')
      : timedKey(at, 'pull', number, 'opened again');
  return found({ ...same, event: 'pull.opened', key });
}

/** The payload has no id of the review, so that its time tells reviews of one user apart. */
function readReview(verdict: 'approved' | 'changes' | 'comment'): Reader {
  return (payload, action, now) => {
    if (action !== 'reviewed') return ignored('Only new reviews count.');
    const of = z.object({ pull_request: pull, sender: sentGiteaUser }).parse(payload);
    const { number, head, updated_at: at = now } = of.pull_request;
    return found({
      event: 'pull.reviewed',
      key: timedKey(at, 'review', number, of.sender.id, verdict),
      at,
      actor: of.sender,
      number,
      sha: head.sha,
      branch: head.ref,
      verdict,
      // Without its id the review cannot be compared later: the pull request is.
      textSha256: hashOfIssue(of.pull_request),
    });
  };
}

function readStatus(payload: unknown, _action: string, now: string): ReadPayload {
  const of = z
    .object({ sha: payloadSha, state: z.string().max(40), updated_at: payloadTime })
    .parse(payload);
  if (of.state === 'pending') return ignored('Only checks that have ended count.');
  return askChecks(of.sha, { at: of.updated_at ?? now });
}

function readWorkflowRun(payload: unknown, action: string, now: string): ReadPayload {
  if (action !== 'completed') return ignored('Only checks that have ended count.');
  const run = z.object({ head_sha: payloadSha, head_branch: payloadName.nullish() });
  const of = z.object({ workflow_run: run }).parse(payload);
  const branch = of.workflow_run.head_branch ?? undefined;
  return askChecks(of.workflow_run.head_sha, { at: now, branch });
}

function readActionRun(payload: unknown, _action: string, now: string): ReadPayload {
  const run = z.object({ commit_sha: payloadSha, prettyref: z.string().max(300).nullish() });
  const of = z.object({ run }).parse(payload);
  // For a pull request it is its number, such as `#12`.
  const number = /^#([1-9]\d{0,9})$/.exec(of.run.prettyref ?? '')?.[1];
  const branch = number === undefined ? (of.run.prettyref ?? undefined) : undefined;
  return askChecks(of.run.commit_sha, {
    at: now,
    branch,
    number: number === undefined ? undefined : Number(number),
  });
}

function readPush(payload: unknown, _action: string, now: string): ReadPayload {
  const of = z
    .object({ ref: payloadName, after: payloadSha, sender: sentGiteaUser })
    .parse(payload);
  return pushed(of.ref, of.after, { at: now, actor: of.sender });
}

function readRelease(payload: unknown, action: string, now: string): ReadPayload {
  if (action !== 'published') return ignored('Only published releases count.');
  const release = z.object({ id: payloadId, tag_name: payloadName, published_at: payloadTime });
  const of = z.object({ release, sender: sentGiteaUser }).parse(payload);
  const { id, tag_name: tag, published_at: at = now } = of.release;
  const key = eventKey('release', id);
  return found({ event: 'release.published', key, at, actor: of.sender, tag });
}
