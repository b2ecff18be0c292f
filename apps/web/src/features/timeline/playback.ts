import type { Event } from '@belay/protocol';

export const speeds = [0.5, 1, 2, 5, 10, 30] as const;

/** Waits in the log longer than this are cut short, in milliseconds, because a viewer would only wait for the model. */
const longestWaitMs = 2_000;

/**
 * The event to show after `elapsed` milliseconds of playing from event `from`.
 * Events follow each other as they did, with long waits cut; returns the last event at the end.
 */
export function eventAfter(
  events: readonly Event[],
  from: number,
  { elapsed, speed }: { elapsed: number; speed: number },
): number {
  const start = events.findIndex((event) => event.seq > from);
  if (start === -1) return events.at(-1)?.seq ?? from;
  let left = elapsed * speed;
  let seq = from;
  for (let index = start; index < events.length; index += 1) {
    left -= waitBefore(events, index);
    if (left < 0) return seq;
    seq = events[index]?.seq ?? seq;
  }
  return seq;
}

function waitBefore(events: readonly Event[], index: number): number {
  const [before, after] = [events[index - 1], events[index]];
  if (!before || !after) return 0;
  const gap = Date.parse(after.time) - Date.parse(before.time);
  return Math.min(longestWaitMs, Math.max(20, gap));
}

/** The nearest step before or after an event. */
export function stepFrom(
  marks: readonly { seq: number; kind: string }[],
  at: number,
  direction: 1 | -1,
): number | null {
  const steps = marks.filter(({ kind }) => kind === 'step' || kind === 'message');
  const found =
    direction === 1 ? steps.find(({ seq }) => seq > at) : steps.findLast(({ seq }) => seq < at);
  return found?.seq ?? null;
}
