import { ownValue, type Occurrence } from '@belay/protocol';
import { z } from 'zod';
import { eventKey, reviewAt, timedKey } from '../event-keys.js';
import { labelled, pushed } from './github-delivery.js';
import {
  addedNames,
  gitlabChanges,
  gitlabCommit,
  gitlabLabel,
  sentGitlabSubject,
  sentGitlabUser,
  labelsAdded,
  somethingOf,
  textOfSubject,
} from './gitlab-parts.js';
import { readMergeRequest, readPipeline } from './gitlab-merge-request.js';
import {
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

type Reader = (payload: unknown, now: string) => ReadPayload;

const readers: Readonly<Record<string, Reader>> = {
  issue: readIssue,
  note: readNote,
  merge_request: readMergeRequest,
  pipeline: readPipeline,
  push: readPush,
  release: readRelease,
};

/** What a payload of GitLab says. Throws a `ZodError` for one that is not of the documented form. */
export function readGitlabDelivery(event: string, payload: unknown, now: string): ReadPayload {
  if (event.startsWith('Confidential')) return ignored('It is confidential.');
  const { object_kind: kind } = z.object({ object_kind: z.string().max(100) }).parse(payload);
  const read = ownValue(readers, kind);
  return read ? read(payload, now) : ignored(`Events ${kind} begin no runs.`);
}

function readIssue(payload: unknown, now: string): ReadPayload {
  const of = z
    .object({
      object_attributes: sentGitlabSubject,
      user: sentGitlabUser,
      labels: z.array(gitlabLabel).max(500).nullish(),
      changes: gitlabChanges.nullish(),
    })
    .parse(payload);
  const { iid: number, action, confidential, updated_at: at = now } = of.object_attributes;
  if (confidential === true) return ignored('It is confidential.');
  const textSha256 = textOfSubject(of.object_attributes);
  const same = { at, actor: of.user, number, textSha256 };
  if (action === 'open')
    return found(
      { ...same, event: 'issue.opened', key: eventKey('issue', number, 'opened') },
      ...(of.labels ?? []).map(({ title }) => labelled('issue', title, same)),
    );
  if (action !== 'update') return ignored(`issue with the action ${action} begins no runs.`);
  const assigned = addedNames(of.changes?.assignees, ({ username }) => username).map(
    (name): Occurrence => ({
      ...same,
      event: 'issue.assigned',
      key: timedKey(at, 'assign', number, name),
      assignee: name,
    }),
  );
  return somethingOf([...labelsAdded(of.changes, 'issue', same), ...assigned]);
}

const note = z.object({
  id: payloadId,
  note: payloadText,
  noteable_type: z.string().max(40),
  action: z.string().max(40).nullish(),
  system: z.boolean().nullish(),
  created_at: payloadTime,
});
const noteHook = z.object({
  object_attributes: note,
  user: sentGitlabUser,
  event_type: z.string().max(60).nullish(),
  issue: z.object({ iid: payloadNumber, confidential: z.boolean().nullish() }).nullish(),
  merge_request: z
    .object({
      iid: payloadNumber,
      source_branch: payloadName.nullish(),
      last_commit: gitlabCommit.nullish(),
    })
    .nullish(),
});

function readNote(payload: unknown, now: string): ReadPayload {
  const of = noteHook.parse(payload);
  const why = whyIgnored(of);
  if (why !== undefined) return ignored(why);
  const { id, note: body, noteable_type: type, created_at: at = now } = of.object_attributes;
  const pull = type === 'MergeRequest' ? of.merge_request : undefined;
  const number = type === 'Issue' ? of.issue?.iid : pull?.iid;
  if (number === undefined) return ignored('Only comments on issues and merge requests count.');
  const review = pull ? reviewAt(at, number, of.user) : undefined;
  const said = commentOccurrence({ id, body, at, number, isPull: !!pull, actor: of.user, review });
  if (!said) return ignored(noCommand);
  const [sha, branch] = [pull?.last_commit?.id, pull?.source_branch];
  return found({ ...said, ...(sha !== undefined && { sha }), ...(branch && { branch }) });
}

function whyIgnored(of: z.output<typeof noteHook>): string | undefined {
  if (of.event_type === 'confidential_note' || of.issue?.confidential === true)
    return 'It is confidential.';
  const { action, system } = of.object_attributes;
  const isNew = (action ?? 'create') === 'create' && system !== true;
  return isNew ? undefined : 'Only new comments of users count.';
}

function readPush(payload: unknown, now: string): ReadPayload {
  const of = z
    .object({
      ref: payloadName,
      after: payloadSha,
      user_id: payloadId,
      user_username: payloadName,
    })
    .parse(payload);
  const actor = sentGitlabUser.parse({ id: of.user_id, username: of.user_username });
  return pushed(of.ref, of.after, { at: now, actor });
}

function readRelease(payload: unknown, now: string): ReadPayload {
  const of = z
    .object({
      action: z.string().max(40),
      tag: payloadName,
      released_at: payloadTime,
    })
    .parse(payload);
  if (of.action !== 'create') return ignored('Only published releases count.');
  const { tag, released_at: at = now } = of;
  // The payload does not say who made it, and lists of releases have no ids.
  return found({ event: 'release.published', key: eventKey('release', tag), at, actor: null, tag });
}
