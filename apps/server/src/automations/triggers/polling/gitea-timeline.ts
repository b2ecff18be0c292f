import type { Occurrence } from '@belay/protocol';
import { z } from 'zod';
import type { Forge } from '../../forges/forge.js';
import { timedKey } from '../event-keys.js';
import { sentGiteaUser } from '../webhooks/gitea-delivery.js';
import { labelled } from '../webhooks/github-delivery.js';
import { payloadName, payloadTime } from '../webhooks/payload-parts.js';
import { itemsOf, readerOf } from './forge-lists.js';
import { seenText, type ListedSubject } from './seen-text.js';

/** A label that is set counts if it was set no longer than this before it was learned of. */
const nearMs = 120_000;
/** As many as Gitea lists at most, unless its administrator wants otherwise. */
const pageSize = 50;
const maxPages = 10;

const entry = z.object({
  type: z.string().max(40),
  user: sentGiteaUser.nullish(),
  created_at: payloadTime,
  /** `1` for a label that was set; empty for one that was removed. */
  body: z.string().max(1_000_000).nullish(),
  label: z.object({ name: payloadName }).nullish(),
  assignee: sentGiteaUser.nullish(),
  removed_assignee: z.boolean().nullish(),
});

/** Labels that were set and users who were assigned, of one issue or pull request, since a time. */
export async function timelineOccurrences(
  forge: Forge,
  { number, sha, branch, text, updated }: ListedSubject,
  { since, isPull }: { since: string; isPull: boolean },
): Promise<Occurrence[]> {
  if (number === undefined) return [];
  const entries = await entriesOf(forge, number, since);
  return entries.flatMap((each): Occurrence[] => {
    const at = each.created_at;
    if (at === undefined || at < since) return [];
    const same = {
      at,
      actor: each.user ?? null,
      number,
      ...(sha !== undefined && { sha }),
      ...(branch !== undefined && { branch }),
      ...seenText(at, text, updated),
    };
    if (each.type === 'label' && each.body === '1' && each.label)
      return [labelled(isPull ? 'pull' : 'issue', each.label.name, same)];
    if (each.type === 'assignees' && each.removed_assignee !== true && each.assignee && !isPull) {
      const { name } = each.assignee;
      const key = timedKey(at, 'assign', number, name);
      return [{ ...same, event: 'issue.assigned', key, assignee: name }];
    }
    return [];
  });
}

/** The oldest come first: what strangers say meanwhile must not be in the way of what a writer does. */
async function entriesOf(forge: Forge, number: number, since: string) {
  const entries: z.output<typeof entry>[] = [];
  for (let page = 1; page <= maxPages; page += 1) {
    const query = { since, limit: pageSize, page };
    const { body } = await readerOf(forge).get(`issues/${number}/timeline`, { query });
    entries.push(...itemsOf(body, entry));
    if (!Array.isArray(body) || body.length < pageSize) break;
  }
  return entries;
}

/** What was added to an issue or pull request whose webhook only says that something was. */
export async function labelsSet(
  forge: Forge,
  asked: Occurrence,
): Promise<{ found: Occurrence[]; why: string }> {
  const since = new Date(Date.parse(asked.at) - nearMs).toISOString();
  const isPull = asked.event.startsWith('pull.');
  // What the webhook says of the text is of the time at which it was sent.
  const subject = { ...asked, text: asked.textSha256, updated: undefined };
  const all = await timelineOccurrences(forge, subject, { since, isPull });
  const found = all.filter(({ event }) => event === asked.event);
  return { found, why: 'Nothing was added, by what its host lists.' };
}
