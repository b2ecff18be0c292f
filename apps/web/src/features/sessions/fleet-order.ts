import { isEnded, type SessionSummary } from '@belay/protocol';

export interface FleetFilter {
  q?: string | undefined;
  tag?: string | undefined;
  show?: 'active' | 'ended' | 'archived' | undefined;
}

/** The sessions to show: those that wait for a person first, then those at work, then the newest. */
export function orderFleet(
  sessions: readonly SessionSummary[],
  filter: FleetFilter,
): SessionSummary[] {
  return sessions.filter((session) => shown(session, filter)).toSorted(byNeed);
}

export const needsPerson = ({ waitingFor, question, state }: SessionSummary): boolean =>
  !isEnded(state) && (waitingFor.length > 0 || question !== null);

function shown(session: SessionSummary, { q, tag, show }: FleetFilter): boolean {
  if (session.archived !== (show === 'archived')) return false;
  if (show === 'active' && isEnded(session.state)) return false;
  if (show === 'ended' && !isEnded(session.state)) return false;
  if (tag && !session.tags.includes(tag)) return false;
  const text = `${session.title} ${session.task} ${session.model} ${session.tags.join(' ')}`;
  return !q || text.toLowerCase().includes(q.toLowerCase());
}

function byNeed(a: SessionSummary, b: SessionSummary): number {
  return rank(a) - rank(b) || Date.parse(b.created) - Date.parse(a.created);
}

const rank = (session: SessionSummary): number =>
  needsPerson(session) ? 0 : isEnded(session.state) ? 2 : 1;
