import { ownValue, type Occurrence } from '@belay/protocol';
import { z } from 'zod';
import { eventKey, reviewAt, timedKey } from '../event-keys.js';
import { labelled } from './github-delivery.js';
import {
  gitlabChanges,
  gitlabCommit,
  gitlabLabel,
  sentGitlabSubject,
  sentGitlabUser,
  labelsAdded,
  somethingOf,
  textOfSubject,
} from './gitlab-parts.js';
import {
  askChecks,
  found,
  ignored,
  payloadName,
  payloadNumber,
  payloadSha,
  payloadTime,
  type ReadPayload,
} from './payload-parts.js';

/** Throws a `ZodError`, like all readers of payloads. */
export function readMergeRequest(payload: unknown, now: string): ReadPayload {
  const attributes = sentGitlabSubject.extend({
    oldrev: z.string().max(100).nullish(),
    source_branch: payloadName,
    last_commit: gitlabCommit,
  });
  const of = z
    .object({
      object_attributes: attributes,
      user: sentGitlabUser,
      labels: z.array(gitlabLabel).max(500).nullish(),
      changes: gitlabChanges.nullish(),
    })
    .parse(payload);
  const { iid: number, action = '', oldrev, updated_at: at = now } = of.object_attributes;
  const { id: sha } = of.object_attributes.last_commit;
  const textSha256 = textOfSubject(of.object_attributes);
  const branch = of.object_attributes.source_branch;
  const same = { at, actor: of.user, number, sha, branch, textSha256 };
  const again: Occurrence = {
    ...same,
    event: 'pull.opened',
    key: timedKey(at, 'pull', number, 'opened again'),
  };
  if (action === 'open')
    return found(
      { ...again, key: eventKey('pull', number, 'opened') },
      ...(of.labels ?? []).map(({ title }) => labelled('pull', title, same)),
    );
  if (action === 'reopen') return found(again);
  if (action === 'update')
    return somethingOf([
      ...(oldrev ? [updated(same, number, sha)] : []),
      ...(becomesReady(of.changes) ? [again] : []),
      ...labelsAdded(of.changes, 'pull', same),
    ]);
  const verdict = ownValue(verdicts, action);
  if (verdict === undefined)
    return ignored(`merge_request with the action ${action} begins no runs.`);
  const key = timedKey(at, 'approval', number, of.user.id, verdict);
  const review = reviewAt(at, number, of.user);
  return found({ ...same, event: 'pull.reviewed', key, review, verdict });
}

const verdicts: Readonly<Record<string, string>> = {
  approved: 'approved',
  approval: 'approved',
  unapproved: 'changes',
  unapproval: 'changes',
};

const becomesReady = (of: z.output<typeof gitlabChanges> | null | undefined): boolean =>
  of?.draft?.previous === true && of.draft.current === false;

const updated = (
  same: Omit<Occurrence, 'event' | 'key'>,
  number: number,
  sha: string,
): Occurrence => ({
  ...same,
  event: 'pull.updated',
  key: eventKey('pull', number, sha),
});

const ended = new Set(['success', 'failed', 'canceled', 'skipped']);

export function readPipeline(payload: unknown, now: string): ReadPayload {
  const attributes = z.object({
    sha: payloadSha,
    ref: payloadName.nullish(),
    tag: z.boolean().nullish(),
    status: z.string().max(40),
    finished_at: payloadTime,
  });
  const of = z
    .object({
      object_attributes: attributes,
      merge_request: z
        .object({ iid: payloadNumber, source_branch: payloadName.nullish() })
        .nullish(),
    })
    .parse(payload);
  const { sha, ref, tag, status, finished_at: at = now } = of.object_attributes;
  if (!ended.has(status)) return ignored('Only checks that have ended count.');
  if (tag === true) return ignored('Only checks of branches count.');
  // The reference of a pipeline for a merge request is not a branch.
  const isBranch = ref !== null && ref !== undefined && !ref.startsWith('refs/');
  const branch = of.merge_request?.source_branch ?? (isBranch ? ref : undefined);
  return askChecks(sha, { at, branch, number: of.merge_request?.iid });
}
