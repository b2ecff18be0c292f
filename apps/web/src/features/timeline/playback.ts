import type { Event } from '@belay/protocol';

export const speeds = [0.5, 1, 2, 5, 10, 30] as const;

/**
 * Longer gaps in the log are shortened to this, in milliseconds: they are mostly waits for the
 * model.
 */
const longestWaitMs = 2_000;

/**
 * The event to show after `elapsed` milliseconds of playback from event `from`. Keeps the original
 * pace, except for long gaps. Past the end it is the last event.
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

/** The nearest step or message before or after an event; null if there is none. */
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
