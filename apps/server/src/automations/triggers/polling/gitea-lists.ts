import { z } from 'zod';
import { ownValue, type Occurrence } from '@belay/protocol';
import { eventKey, hashOfText, timedKey } from '../event-keys.js';
import { sentGiteaUser } from '../webhooks/gitea-delivery.js';
import { hashOfIssue } from '../webhooks/github-delivery.js';
import {
  commentOccurrence,
  payloadId,
  payloadName,
  payloadNumber,
  payloadText,
  payloadTime,
} from '../webhooks/payload-parts.js';
import { itemsOf } from './forge-lists.js';
import { timelineOccurrences } from './gitea-timeline.js';
import { numberAt } from './github-lists.js';
import { pagesOf, type PolledItem, type PolledList, type PollQuery } from './polled-lists.js';
import type { ListedSubject } from './seen-text.js';

/** Issues whose timeline is read, of those that changed. */
const maxChanged = 30;

const issue = z.object({
  number: payloadNumber,
  title: payloadText,
  body: payloadText.nullish(),
  user: sentGiteaUser.nullish(),
  created_at: payloadTime,
  updated_at: payloadTime,
});

const issues: PolledList = {
  name: 'issues',
  events: ['issue.opened', 'issue.labelled', 'issue.assigned'],
  async read(query) {
    const { body, first } = await pagesOf(query, 'issues', {
      query: { since: query.since, state: 'all', type: 'issues', limit: 50 },
    });
    const changed = itemsOf(body, issue);
    const opened = changed.flatMap((each): PolledItem[] => {
      const { number, user: actor, created_at: at } = each;
      if (!actor || at === undefined) return [];
      const key = eventKey('issue', number, 'opened');
      const textSha256 = hashOfIssue(each);
      return [
        {
          id: `${number}`,
          occurrence: { event: 'issue.opened', key, at, actor, number, textSha256 },
        },
      ];
    });
    const added: PolledItem[] = [];
    if (query.wanted.has('issue.labelled') || query.wanted.has('issue.assigned'))
      for (const each of changed.slice(0, maxChanged))
        added.push(
          ...(await timelineItems(
            query,
            { number: each.number, text: hashOfIssue(each), updated: each.updated_at },
            false,
          )),
        );
    return { items: [...opened, ...added], pollAfterMs: first.pollAfterMs };
  },
};

async function timelineItems(
  { forge, since }: PollQuery,
  subject: ListedSubject,
  isPull: boolean,
): Promise<PolledItem[]> {
  const found = await timelineOccurrences(forge, subject, { since, isPull });
  return found.map((occurrence) => ({ id: occurrence.key, occurrence }));
}

/** Labels that were set on one pull request. */
export const giteaPullLabels = (query: PollQuery, pull: ListedSubject): Promise<PolledItem[]> =>
  timelineItems(query, pull, true);

const comment = z.object({
  id: payloadId,
  body: payloadText,
  user: sentGiteaUser,
  created_at: payloadTime,
  updated_at: payloadTime,
  issue_url: z.string().max(2_000).nullish(),
  pull_request_url: z.string().max(2_000).nullish(),
});

const comments: PolledList = {
  name: 'issues/comments',
  events: ['issue.command', 'pull.command', 'pull.commented'],
  async read(query) {
    const { body, first } = await pagesOf(query, 'issues/comments', {
      query: { since: query.since, limit: 50 },
    });
    const items = itemsOf(body, comment).flatMap((each): PolledItem[] => {
      const { id, user: actor, created_at: at, updated_at: updated } = each;
      const isPull = Boolean(each.pull_request_url);
      const number = numberAt((isPull ? each.pull_request_url : each.issue_url) ?? undefined);
      if (number === undefined || at === undefined || updated !== at) return [];
      const said = commentOccurrence({ id, body: each.body, number, isPull, at, actor });
      return said ? [{ id, occurrence: said }] : [];
    });
    return { items, pollAfterMs: first.pollAfterMs };
  },
};

const review = z.object({
  id: payloadId,
  user: sentGiteaUser.nullish(),
  state: z.string().max(40),
  body: payloadText.nullish(),
  submitted_at: payloadTime,
});
const verdicts: Readonly<Record<string, string>> = {
  APPROVED: 'approved',
  REQUEST_CHANGES: 'changes',
  COMMENT: 'comment',
};

/** Reviews of one pull request, with keys like those of webhooks, which have no ids. */
export async function giteaReviews(
  query: PollQuery,
  pull: Pick<Occurrence, 'number' | 'sha' | 'branch'>,
): Promise<PolledItem[]> {
  const { body } = await pagesOf(query, `pulls/${pull.number}/reviews`, { query: { limit: 50 } });
  return itemsOf(body, review).flatMap((each): PolledItem[] => {
    const { id, user: actor, submitted_at: at } = each;
    const verdict = ownValue(verdicts, each.state);
    if (!actor || at === undefined || verdict === undefined) return [];
    const key = timedKey(at, 'review', pull.number ?? 0, actor.id, verdict);
    const textSha256 = hashOfText(each.body ?? '');
    const same = { key, at, actor, verdict, textSha256, comment: id, ...pull };
    return [{ id: `review ${id}`, occurrence: { event: 'pull.reviewed', ...same } }];
  });
}

const release = z.object({
  id: payloadId,
  tag_name: payloadName,
  draft: z.boolean().nullish(),
  author: sentGiteaUser.nullish(),
  published_at: payloadTime,
});

const releases: PolledList = {
  name: 'releases',
  events: ['release.published'],
  async read(query) {
    const page = await query.forge.get('releases', { etag: query.etag, query: { limit: 30 } });
    const items = itemsOf(page.body, release).flatMap((each): PolledItem[] => {
      const { id, tag_name: tag, author = null, published_at: at } = each;
      if (each.draft === true || at === undefined) return [];
      const key = eventKey('release', id);
      return [{ id, occurrence: { event: 'release.published', key, at, actor: author, tag } }];
    });
    return { items, etag: page.etag, pollAfterMs: page.pollAfterMs };
  },
};

export const giteaLists: readonly PolledList[] = [issues, comments, releases];
