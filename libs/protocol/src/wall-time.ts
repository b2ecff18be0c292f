import { isEvent, type Event } from './events.js';
import { isEnded, type SessionSummary } from './session.js';

type WallTime = SessionSummary['wallTime'];

/** The time that a session has run since its start, without the time between an end and the next start. */
export function wallTimeAfter(known: WallTime, event: Event): WallTime {
  // The session starts with copies of events from elsewhere; its own time begins here.
  if (event.action === 'fork' || event.action === 'imported')
    return { seconds: 0, since: event.time };
  if (isEvent(event, 'state') && isEnded(event.args.state)) {
    return { seconds: wallSeconds(known, event.time), since: null };
  }
  if (event.action !== 'start' && event.action !== 'state') return known;
  return known.since === null ? { ...known, since: event.time } : known;
}

/** Like `wallTimeAfter`, without pauses and the time in which a session waits for its user. */
export function workTimeAfter(known: WallTime, event: Event): WallTime {
  const rests = isEvent(event, 'state') && ['paused', 'waiting'].includes(event.args.state);
  if (!rests) return wallTimeAfter(known, event);
  return { seconds: wallSeconds(known, event.time), since: null };
}

/** Seconds that a session has run up to a time. */
export function wallSeconds({ seconds, since }: WallTime, until: string | number): number {
  if (since === null) return seconds;
  return seconds + Math.max(0, new Date(until).getTime() - Date.parse(since)) / 1000;
}
