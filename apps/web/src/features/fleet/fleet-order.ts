import { isEnded, needsUser, type SessionSummary } from '@belay/protocol';

export const fleetShows = ['waiting', 'active', 'ended', 'archived'] as const;
export const fleetSorts = ['newest', 'cost', 'steps', 'tag'] as const;

/** The filters and order of the fleet, stored in the URL. */
export interface FleetFilter {
  q?: string | undefined;
  tag?: string | undefined;
  show?: (typeof fleetShows)[number] | undefined;
  /** Grouped by need if undefined. */
  sort?: (typeof fleetSorts)[number] | undefined;
}

export interface FleetGroup {
  /** Null if the order has no groups. */
  title: string | null;
  sessions: SessionSummary[];
}

/**
 * The sessions to show. By default in groups: those that wait for the user, longest wait first,
 * then those running, queued, paused and ended, newest first; otherwise in the order the user
 * chose.
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

/** Longest wait first. A waiting session has no activity, so `updated` is when the wait began. */
const byWait = (a: SessionSummary, b: SessionSummary): number =>
  Date.parse(a.updated) - Date.parse(b.updated);

const needs = ['Needs you', 'Running', 'Queued', 'Paused', 'Ended'] as const;

/** A starting session has a `reason` only while it is queued. */
export function needOf(session: SessionSummary): (typeof needs)[number] {
  const { state, reason } = session;
  if (needsUser(session)) return 'Needs you';
  if (isEnded(state)) return 'Ended';
  if (state === 'paused') return 'Paused';
  return state === 'starting' && reason !== null ? 'Queued' : 'Running';
}

const worths = {
  newest: () => 0,
  cost: ({ dollars }: SessionSummary) => dollars,
  steps: ({ steps }: SessionSummary) => steps,
};

/** Lists each session once, under its first tag. */
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

/** Whether a session matches the text and the tag, where given. */
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
