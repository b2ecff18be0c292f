import { isEnded, type SessionSummary } from '@belay/protocol';
import { needsUser } from '@/lib/needs-user';

export const fleetShows = ['waiting', 'active', 'ended', 'archived'] as const;
export const fleetSorts = ['newest', 'cost', 'steps', 'tag'] as const;

/** What narrows and orders the fleet; all of it is in the address. */
export interface FleetFilter {
  q?: string | undefined;
  tag?: string | undefined;
  show?: (typeof fleetShows)[number] | undefined;
  /** By need where it is left out. */
  sort?: (typeof fleetSorts)[number] | undefined;
}

export interface FleetGroup {
  /** Null where the order has no groups. */
  title: string | null;
  sessions: SessionSummary[];
}

/**
 * The sessions to show, in groups: those that wait for the user first, the one that has waited longest before the
 * others, then those at work, in the queue and at their end, the newest of each first; or as the user orders them.
 */
export function groupFleet(sessions: readonly SessionSummary[], filter: FleetFilter): FleetGroup[] {
  const shown = sessions.filter((session) => isShown(session, filter)).toSorted(byAge);
  if (filter.sort === 'tag') return byTag(shown);
  if (filter.sort) {
    const worth = worths[filter.sort];
    const ordered = shown.toSorted((a, b) => worth(b) - worth(a));
    return ordered.length ? [{ title: null, sessions: ordered }] : [];
  }
  const groups = Map.groupBy(shown, needOf);
  return needs.flatMap((title) => {
    const found = groups.get(title);
    if (!found) return [];
    return [{ title, sessions: title === 'Needs you' ? found.toSorted(byWait) : found }];
  });
}

/** Who has waited longest is first: nothing happens in a session that waits. */
const byWait = (a: SessionSummary, b: SessionSummary): number =>
  Date.parse(a.updated) - Date.parse(b.updated);

const needs = ['Needs you', 'At work', 'Queued', 'Paused', 'Ended'] as const;

/** A session that starts has a reason only while it stands in the queue. */
export function needOf(session: SessionSummary): (typeof needs)[number] {
  const { state, reason } = session;
  if (needsUser(session)) return 'Needs you';
  if (isEnded(state)) return 'Ended';
  if (state === 'paused') return 'Paused';
  return state === 'starting' && reason !== null ? 'Queued' : 'At work';
}

const worths = {
  newest: () => 0,
  cost: ({ dollars }: SessionSummary) => dollars,
  steps: ({ steps }: SessionSummary) => steps,
};

/** Each session once, under its first tag. */
function byTag(shown: readonly SessionSummary[]): FleetGroup[] {
  const untagged = 'Untagged';
  const groups = Map.groupBy(shown, ({ tags: [first] }) => first ?? untagged);
  return [...groups]
    .map(([title, sessions]) => ({ title, sessions }))
    .toSorted(
      (a, b) =>
        Number(a.title === untagged) - Number(b.title === untagged) ||
        a.title.localeCompare(b.title),
    );
}

function isShown(session: SessionSummary, { q, tag, show }: FleetFilter): boolean {
  if (session.archived !== (show === 'archived')) return false;
  if (show === 'waiting' && !needsUser(session)) return false;
  if (show === 'active' && isEnded(session.state)) return false;
  if (show === 'ended' && !isEnded(session.state)) return false;
  return fitsWords(session, { q, tag });
}

/** Whether a session has the text, if there is one, and the tag. */
export function fitsWords(
  { title, task, model, tags }: SessionSummary,
  { q, tag }: Pick<FleetFilter, 'q' | 'tag'>,
): boolean {
  if (tag && !tags.includes(tag)) return false;
  const text = `${title} ${task} ${model} ${tags.join(' ')}`;
  return !q || text.toLowerCase().includes(q.toLowerCase());
}

const byAge = (a: SessionSummary, b: SessionSummary): number =>
  Date.parse(b.created) - Date.parse(a.created);
