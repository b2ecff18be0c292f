import type { ForgeUser, Occurrence } from '@belay/protocol';
import { z } from 'zod';
import { eventKey } from '../event-keys.js';
import { askAllChecks } from '../forge-questions.js';
import { sentGiteaUser } from '../webhooks/gitea-delivery.js';
import { sentGithubUser, hashOfIssue } from '../webhooks/github-delivery.js';
import { sentGitlabUser } from '../webhooks/gitlab-parts.js';
import {
  payloadName,
  payloadNumber,
  payloadSha,
  payloadText,
  payloadTime,
} from '../webhooks/payload-parts.js';
import { itemsOf } from './forge-lists.js';
import { giteaPullLabels, giteaReviews } from './gitea-lists.js';
import { githubReviews } from './github-lists.js';
import { gitlabPullLabels } from './gitlab-lists.js';
import type { PolledItem, PolledList, PollQuery } from './polled-lists.js';

/** Pull requests that are looked at more closely, of those that changed last. */
const maxChanged = 20;

interface ListedPull {
  number: number;
  sha: string;
  branch: string;
  author: ForgeUser | null;
  created: string | undefined;
  updated: string | undefined;
  textSha256: string;
}

const likeGithub = (user: typeof sentGithubUser | typeof sentGiteaUser) =>
  z
    .object({
      number: payloadNumber,
      title: payloadText,
      body: payloadText.nullish(),
      user: user.nullish(),
      head: z.object({ ref: payloadName, sha: payloadSha }),
      created_at: payloadTime,
      updated_at: payloadTime,
    })
    .transform(({ number, title, body, user: author = null, head, ...times }): ListedPull => ({
      number,
      sha: head.sha,
      branch: head.ref,
      author,
      created: times.created_at,
      updated: times.updated_at,
      textSha256: hashOfIssue({ title, body }),
    }));

const ofGitlab = z
  .object({
    iid: payloadNumber,
    title: payloadText,
    description: payloadText.nullish(),
    author: sentGitlabUser.nullish(),
    sha: payloadSha,
    source_branch: payloadName,
    created_at: payloadTime,
    updated_at: payloadTime,
  })
  .transform(
    ({
      iid,
      title,
      description,
      author = null,
      sha,
      source_branch: branch,
      ...times
    }): ListedPull => ({
      number: iid,
      sha,
      branch,
      author,
      created: times.created_at,
      updated: times.updated_at,
      textSha256: hashOfIssue({ title, body: description }),
    }),
  );

const kinds = {
  github: {
    path: 'pulls',
    query: { state: 'open', sort: 'updated', direction: 'desc', per_page: 100 },
    item: likeGithub(sentGithubUser),
  },
  gitea: {
    path: 'pulls',
    query: { state: 'open', sort: 'recentupdate', limit: 50 },
    item: likeGithub(sentGiteaUser),
  },
  gitlab: {
    path: 'merge_requests',
    query: { state: 'opened', order_by: 'updated_at', sort: 'desc', per_page: 100 },
    item: ofGitlab,
  },
} as const;

async function openPulls({
  forge,
}: PollQuery): Promise<{ pulls: ListedPull[]; pollAfterMs: number | null }> {
  const { path, query, item } = kinds[forge.kind];
  const page = await forge.get(path, { query });
  return { pulls: itemsOf<z.ZodType<ListedPull>>(page.body, item), pollAfterMs: page.pollAfterMs };
}

/** New pull requests and new heads of those that are known, and what happened to those that changed. */
const pulls: PolledList = {
  name: 'pulls',
  events: ['pull.opened', 'pull.updated', 'pull.reviewed', 'pull.labelled'],
  isSnapshot: true,
  async read(query) {
    const { pulls: open, pollAfterMs } = await openPulls(query);
    const known = new Map(query.seen.map((each) => each.split(' ', 2) as [string, string]));
    const items = query.isFirst ? [] : open.flatMap((pull) => changesOf(pull, known));
    if (!query.isFirst)
      for (const pull of open.slice(0, maxChanged))
        if (pull.updated === undefined || pull.updated >= query.since)
          items.push(...(await moreOf(query, pull)));
    // Those that are not on the page any more were not changed for longest.
    const now = new Map([...known, ...open.map(({ number, sha }) => [`${number}`, sha] as const)]);
    const seen = [...now].map(([number, sha]) => `${number} ${sha}`).slice(-1_000);
    return { items, seen, pollAfterMs };
  },
};

function changesOf(pull: ListedPull, known: ReadonlyMap<string, string>): PolledItem[] {
  const { number, sha, branch, author: actor, created, updated, textSha256 } = pull;
  const before = known.get(`${number}`);
  const same = { number, sha, branch, textSha256 };
  if (before === undefined) {
    if (created === undefined) return [];
    const key = eventKey('pull', number, 'opened');
    return [{ id: key, occurrence: { event: 'pull.opened', key, at: created, actor, ...same } }];
  }
  if (before === sha || updated === undefined) return [];
  const key = eventKey('pull', number, sha);
  // Lists do not say who pushed.
  return [
    { id: key, occurrence: { event: 'pull.updated', key, at: updated, actor: null, ...same } },
  ];
}

async function moreOf(query: PollQuery, pull: ListedPull): Promise<PolledItem[]> {
  const { kind } = query.forge;
  const { number, sha, branch, textSha256: text, updated } = pull;
  const of: Pick<Occurrence, 'number' | 'sha' | 'branch'> = { number, sha, branch };
  const items: PolledItem[] = [];
  if (query.wanted.has('pull.reviewed') && kind !== 'gitlab')
    items.push(...(await (kind === 'github' ? githubReviews : giteaReviews)(query, of)));
  if (query.wanted.has('pull.labelled') && kind !== 'github') {
    const labels = kind === 'gitlab' ? gitlabPullLabels : giteaPullLabels;
    items.push(...(await labels(query, { ...of, text, updated })));
  }
  return items;
}

/** Checks of the heads of open pull requests; of other commits only webhooks tell. */
const checks: PolledList = {
  name: 'checks',
  events: ['checks.failed', 'checks.passed'],
  isSnapshot: true,
  async read(query) {
    const { pulls: open, pollAfterMs } = await openPulls(query);
    const known = new Set(query.seen);
    const items: PolledItem[] = [];
    const seen: string[] = [];
    for (const { number, sha, branch } of open.slice(0, maxChanged)) {
      const asked: Occurrence = {
        event: 'checks.failed',
        key: eventKey('checks', sha),
        at: query.now,
        actor: null,
        number,
        sha,
        branch,
      };
      const { found } = await askAllChecks(query.forge, asked);
      for (const occurrence of found) {
        seen.push(occurrence.key);
        if (!query.isFirst && !known.has(occurrence.key))
          items.push({ id: occurrence.key, occurrence });
      }
    }
    return { items, seen, pollAfterMs };
  },
};

export const pullLists: readonly PolledList[] = [pulls, checks];
