import { isEnded, isFact, type Event, type SessionSummary } from '@belay/protocol';

type WallTime = SessionSummary['wallTime'];

/** A session runs from its start on, without the time between an end and the next beginning. */
export function wallTimeAfter(known: WallTime, event: Event): WallTime {
  // A fork holds copies of what another session did; its own time begins here.
  if (event.action === 'fork') return { seconds: 0, since: event.time };
  if (isFact(event, 'state') && isEnded(event.args.state)) {
    return { seconds: wallSeconds(known, event.time), since: null };
  }
  if (event.action !== 'start' && event.action !== 'state') return known;
  return known.since === null ? { ...known, since: event.time } : known;
}

/** Seconds that a session has run up to a time. */
export function wallSeconds({ seconds, since }: WallTime, until: string | number): number {
  if (since === null) return seconds;
  return seconds + Math.max(0, new Date(until).getTime() - Date.parse(since)) / 1000;
}
