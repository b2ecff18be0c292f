import type { Occurrence } from '@belay/protocol';
import { z } from 'zod';
import { eventKey, hashOfText, timedKey } from '../event-keys.js';
import {
  sentGithubUser,
  githubReviewKey,
  githubVerdict,
  labelled,
  hashOfIssue,
} from '../webhooks/github-delivery.js';
import {
  commentOccurrence,
  payloadId,
  payloadName,
  payloadNumber,
  payloadText,
  payloadTime,
} from '../webhooks/payload-parts.js';
import { itemsOf } from './forge-lists.js';
import { endsBefore, pagesOf, type PolledItem, type PolledList } from './polled-lists.js';
import { seenText } from './seen-text.js';

const issue = z.object({
  number: payloadNumber,
  title: payloadText,
  body: payloadText.nullish(),
  user: sentGithubUser.nullish(),
  created_at: payloadTime,
  updated_at: payloadTime,
  pull_request: z.unknown().optional(),
});
const isPull = (of: z.output<typeof issue>): boolean =>
  of.pull_request !== undefined && of.pull_request !== null;

const event = z.object({
  id: payloadId,
  event: z.string().max(60),
  actor: sentGithubUser.nullish(),
  created_at: payloadTime,
  label: z.object({ name: payloadName }).nullish(),
  assignee: sentGithubUser.nullish(),
  issue: issue.nullish(),
});

const again = new Set(['reopened', 'ready_for_review']);

function ofEvent(each: z.output<typeof event>): Occurrence | undefined {
  const { created_at: at, issue: of, actor = null } = each;
  if (!of || at === undefined) return undefined;
  const { number } = of;
  const same = { at, actor, number, ...seenText(at, hashOfIssue(of), of.updated_at) };
  if (each.event === 'labeled' && each.label)
    return labelled(isPull(of) ? 'pull' : 'issue', each.label.name, same);
  if (each.event === 'assigned' && each.assignee && !isPull(of)) {
    const { name } = each.assignee;
    const key = timedKey(at, 'assign', number, name);
    return { ...same, event: 'issue.assigned', key, assignee: name };
  }
  if (again.has(each.event) && isPull(of))
    return { ...same, event: 'pull.opened', key: timedKey(at, 'pull', number, 'opened again') };
  return undefined;
}

const issueEvents: PolledList = {
  name: 'issues/events',
  events: ['issue.labelled', 'issue.assigned', 'pull.labelled', 'pull.opened'],
  async read(query) {
    const { since, etag } = query;
    const isEnough = endsBefore(since, 'created_at');
    const { body, first } = await pagesOf(query, 'issues/events', {
      etag,
      query: { per_page: 100 },
      isEnough,
    });
    const items = itemsOf(body, event).flatMap((each) => {
      const occurrence = ofEvent(each);
      return occurrence ? [{ id: each.id, occurrence }] : [];
    });
    return { items, etag: first.etag, pollAfterMs: first.pollAfterMs };
  },
};

const issues: PolledList = {
  name: 'issues',
  events: ['issue.opened'],
  async read(query) {
    const { body, first } = await pagesOf(query, 'issues', {
      query: {
        state: 'all',
        sort: 'created',
        direction: 'desc',
        since: query.since,
        per_page: 100,
      },
      isEnough: endsBefore(query.since, 'created_at'),
    });
    const items = itemsOf(body, issue).flatMap((each): PolledItem[] => {
      const { number, user: actor, created_at: at } = each;
      if (isPull(each) || !actor || at === undefined) return [];
      const key = eventKey('issue', number, 'opened');
      const textSha256 = hashOfIssue(each);
      return [
        {
          id: `${number}`,
          occurrence: { event: 'issue.opened', key, at, actor, number, textSha256 },
        },
      ];
    });
    return { items, pollAfterMs: first.pollAfterMs };
  },
};

const comment = z.object({
  id: payloadId,
  body: payloadText,
  user: sentGithubUser,
  created_at: payloadTime,
  updated_at: payloadTime,
  html_url: z.string().max(2_000).optional(),
  issue_url: z.string().max(2_000).optional(),
  pull_request_url: z.string().max(2_000).optional(),
  pull_request_review_id: payloadId.nullish(),
});

/** The number at the end of an address. */
export const numberAt = (url: string | undefined): number | undefined => {
  const number = Number(/\/(\d{1,10})(?:#.*)?$/.exec(url ?? '')?.[1]);
  return Number.isInteger(number) && number > 0 ? number : undefined;
};

const comments = (path: 'issues/comments' | 'pulls/comments'): PolledList => ({
  name: path,
  events:
    path === 'issues/comments'
      ? ['issue.command', 'pull.command', 'pull.commented']
      : ['pull.command', 'pull.commented'],
  async read(query) {
    const { body, first } = await pagesOf(query, path, {
      query: { since: query.since, sort: 'created', direction: 'desc', per_page: 100 },
      isEnough: endsBefore(query.since, 'created_at'),
    });
    const items = itemsOf(body, comment).flatMap((each): PolledItem[] => {
      const { id, user: actor, created_at: at, updated_at: updated } = each;
      const number = numberAt(each.pull_request_url ?? each.issue_url);
      // What was edited since is not what was written: only new comments count.
      if (number === undefined || at === undefined || updated !== at) return [];
      const isLine = path === 'pulls/comments';
      const said = commentOccurrence({
        id,
        number,
        at,
        actor,
        body: each.body,
        isPull: isLine || /\/pull\//.test(each.html_url ?? ''),
        ...(isLine && {
          series: 'line-comment',
          review: githubReviewKey(each.pull_request_review_id),
        }),
      });
      return said ? [{ id, occurrence: said }] : [];
    });
    return { items, pollAfterMs: first.pollAfterMs };
  },
});

const review = z.object({
  id: payloadId,
  user: sentGithubUser.nullish(),
  state: z.string().max(40),
  body: payloadText.nullish(),
  submitted_at: payloadTime,
});

/** Reviews of one pull request, by their own ids. */
export async function githubReviews(
  query: Parameters<PolledList['read']>[0],
  pull: Pick<Occurrence, 'number' | 'sha' | 'branch'>,
): Promise<PolledItem[]> {
  const { body } = await pagesOf(query, `pulls/${pull.number}/reviews`, {
    query: { per_page: 100 },
  });
  return itemsOf(body, review).flatMap((each): PolledItem[] => {
    const { id, user: actor, submitted_at: at } = each;
    const verdict = githubVerdict(each.state);
    if (!actor || at === undefined || verdict === undefined) return [];
    const textSha256 = hashOfText(each.body ?? '');
    const key = eventKey('review', id);
    const same = { key, review: key, at, actor, verdict, textSha256, comment: id, ...pull };
    return [{ id: `review ${id}`, occurrence: { event: 'pull.reviewed', ...same } }];
  });
}

const release = z.object({
  id: payloadId,
  tag_name: payloadName,
  draft: z.boolean().nullish(),
  author: sentGithubUser.nullish(),
  published_at: payloadTime,
});

const releases: PolledList = {
  name: 'releases',
  events: ['release.published'],
  async read(query) {
    const page = await query.forge.get('releases', { etag: query.etag, query: { per_page: 30 } });
    const items = itemsOf(page.body, release).flatMap((each): PolledItem[] => {
      const { id, tag_name: tag, author = null, published_at: at } = each;
      if (each.draft === true || at === undefined) return [];
      const key = eventKey('release', id);
      return [{ id, occurrence: { event: 'release.published', key, at, actor: author, tag } }];
    });
    return { items, etag: page.etag, pollAfterMs: page.pollAfterMs };
  },
};

export const githubLists: readonly PolledList[] = [
  issueEvents,
  issues,
  comments('issues/comments'),
  comments('pulls/comments'),
  releases,
];
