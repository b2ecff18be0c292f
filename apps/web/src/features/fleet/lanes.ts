import { isEnded, type SessionSummary } from '@belay/protocol';
import { fitsWords, needOf, type FleetFilter } from './fleet-order';

export const lanes = ['Queued', 'Working', 'Needs you', 'Review', 'Done'] as const;
export type Lane = (typeof lanes)[number];

/** A session’s lane. Ended sessions await review until archived; stopped ones need none. */
function laneOf(session: SessionSummary): Lane {
  const { state, archived } = session;
  if (archived || state === 'stopped') return 'Done';
  if (isEnded(state)) return 'Review';
  const need = needOf(session);
  return need === 'Queued' || need === 'Needs you' ? need : 'Working';
}

/**
 * The sessions of each lane that match the text and the tag. Lanes of waiting sessions have the
 * longest wait first, the others the latest change.
 */
export function sessionsByLane(
  sessions: readonly SessionSummary[],
  { q, tag }: Pick<FleetFilter, 'q' | 'tag'>,
): Map<Lane, SessionSummary[]> {
  const shown = sessions.filter((session) => fitsWords(session, { q, tag }));
  const found = Map.groupBy(shown, laneOf);
  return new Map(
    lanes.map((lane) => {
      const inLane = found.get(lane) ?? [];
      const isWaiting = lane === 'Needs you' || lane === 'Queued';
      return [lane, inLane.toSorted((a, b) => (isWaiting ? byTime(a, b) : byTime(b, a)))];
    }),
  );
}

const byTime = (a: SessionSummary, b: SessionSummary): number =>
  Date.parse(a.updated) - Date.parse(b.updated);
