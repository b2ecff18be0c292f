import type { Occurrence } from '@belay/protocol';
import { z } from 'zod';
import { eventKey, reviewAt, timedKey } from '../event-keys.js';
import { labelled, hashOfIssue } from '../webhooks/github-delivery.js';
import { sentGitlabUser } from '../webhooks/gitlab-parts.js';
import {
  commentOccurrence,
  payloadId,
  payloadName,
  payloadNumber,
  payloadText,
  payloadTime,
} from '../webhooks/payload-parts.js';
import { itemsOf } from './forge-lists.js';
import { pagesOf, type PolledItem, type PolledList, type PollQuery } from './polled-lists.js';
import { seenText, type ListedSubject } from './seen-text.js';

/** Issues whose labels are read, of those that changed. */
const maxChanged = 30;

const issue = z.object({
  iid: payloadNumber,
  title: payloadText,
  description: payloadText.nullish(),
  author: sentGitlabUser.nullish(),
  created_at: payloadTime,
  updated_at: payloadTime,
  confidential: z.boolean().nullish(),
});

const issues: PolledList = {
  name: 'issues',
  events: ['issue.opened', 'issue.labelled'],
  async read(query) {
    const { body, first } = await pagesOf(query, 'issues', {
      query: {
        updated_after: query.since,
        scope: 'all',
        order_by: 'updated_at',
        sort: 'desc',
        per_page: 100,
      },
    });
    const changed = itemsOf(body, issue).filter(({ confidential }) => confidential !== true);
    const opened = changed.flatMap((each): PolledItem[] => {
      const { iid: number, author: actor, created_at: at } = each;
      if (!actor || at === undefined) return [];
      const key = eventKey('issue', number, 'opened');
      const textSha256 = textOfIssue(each);
      return [
        {
          id: `${number}`,
          occurrence: { event: 'issue.opened', key, at, actor, number, textSha256 },
        },
      ];
    });
    const labels: PolledItem[] = [];
    if (query.wanted.has('issue.labelled'))
      for (const each of changed.slice(0, maxChanged))
        labels.push(
          ...(await labelsAdded(query, `issues/${each.iid}`, 'issue', {
            number: each.iid,
            text: textOfIssue(each),
            updated: each.updated_at,
          })),
        );
    return { items: [...opened, ...labels], pollAfterMs: first.pollAfterMs };
  },
};

const textOfIssue = ({ title, description }: z.output<typeof issue>): string =>
  hashOfIssue({ title, body: description });

const labelEvent = z.object({
  id: payloadId,
  user: sentGitlabUser.nullish(),
  created_at: payloadTime,
  action: z.string().max(40),
  label: z.object({ name: payloadName }).nullish(),
});

async function labelsAdded(
  query: PollQuery,
  path: string,
  kind: 'issue' | 'pull',
  { text, updated, ...subject }: ListedSubject,
): Promise<PolledItem[]> {
  const { body } = await pagesOf(query, `${path}/resource_label_events`, {
    query: { per_page: 100 },
  });
  return itemsOf(body, labelEvent).flatMap((each): PolledItem[] => {
    const { id, user: actor = null, created_at: at, action, label } = each;
    if (action !== 'add' || !label || at === undefined) return [];
    const seen = seenText(at, text, updated);
    const occurrence = labelled(kind, label.name, { ...subject, ...seen, at, actor });
    return [{ id: `label ${id}`, occurrence }];
  });
}

/** Labels that were set on one merge request. */
export const gitlabPullLabels = (query: PollQuery, pull: ListedSubject): Promise<PolledItem[]> =>
  labelsAdded(query, `merge_requests/${pull.number}`, 'pull', pull);

const note = z.object({
  id: payloadId,
  body: payloadText,
  noteable_type: z.string().max(40),
  noteable_iid: payloadNumber.nullish(),
  system: z.boolean().nullish(),
  internal: z.boolean().nullish(),
  confidential: z.boolean().nullish(),
  created_at: payloadTime,
  updated_at: payloadTime,
});
const projectEvent = z.object({
  id: payloadId,
  author: sentGitlabUser,
  action_name: z.string().max(60),
  target_type: z.string().max(60).nullish(),
  target_iid: payloadNumber.nullish(),
  created_at: payloadTime,
  note: note.nullish(),
});

const events: PolledList = {
  name: 'events',
  events: ['issue.command', 'pull.command', 'pull.commented', 'pull.reviewed'],
  async read(query) {
    // The host compares days, and leaves out the one that is named.
    const after = new Date(Date.parse(query.since) - 86_400_000).toISOString().slice(0, 10);
    const { body, first } = await pagesOf(query, 'events', { query: { after, per_page: 100 } });
    const items = itemsOf(body, projectEvent).flatMap((each): PolledItem[] => {
      const occurrence = each.note ? noteOf(each.note, each.author) : approvalOf(each);
      return occurrence ? [{ id: each.id, occurrence }] : [];
    });
    return { items, pollAfterMs: first.pollAfterMs };
  },
};

function noteOf(of: z.output<typeof note>, actor: Occurrence['actor']): Occurrence | undefined {
  const { id, body, noteable_iid: number, noteable_type: type, created_at: at } = of;
  const isHidden = of.system === true || of.internal === true || of.confidential === true;
  const isNew = of.updated_at === undefined || of.updated_at === at;
  if (isHidden || !isNew || !actor || at === undefined) return undefined;
  if (number === null || number === undefined) return undefined;
  if (type !== 'Issue' && type !== 'MergeRequest') return undefined;
  const isPull = type === 'MergeRequest';
  const review = isPull ? reviewAt(at, number, actor) : undefined;
  return commentOccurrence({ id, body, number, at, actor, isPull, review });
}

function approvalOf(of: z.output<typeof projectEvent>): Occurrence | undefined {
  const { action_name: action, target_iid: number, created_at: at, author: actor } = of;
  if (action !== 'approved' || of.target_type !== 'MergeRequest') return undefined;
  if (number === null || number === undefined || at === undefined) return undefined;
  const key = timedKey(at, 'approval', number, actor.id, 'approved');
  const review = reviewAt(at, number, actor);
  return { event: 'pull.reviewed', key, review, at, actor, number, verdict: 'approved' };
}

const release = z.object({
  tag_name: payloadName,
  author: sentGitlabUser.nullish(),
  released_at: payloadTime,
});

const releases: PolledList = {
  name: 'releases',
  events: ['release.published'],
  async read(query) {
    const page = await query.forge.get('releases', { etag: query.etag, query: { per_page: 30 } });
    const items = itemsOf(page.body, release).flatMap((each): PolledItem[] => {
      const { tag_name: tag, author = null, released_at: at } = each;
      if (at === undefined) return [];
      const key = eventKey('release', tag);
      return [{ id: tag, occurrence: { event: 'release.published', key, at, actor: author, tag } }];
    });
    return { items, etag: page.etag, pollAfterMs: page.pollAfterMs };
  },
};

export const gitlabLists: readonly PolledList[] = [issues, events, releases];
