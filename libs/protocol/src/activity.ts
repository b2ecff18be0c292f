import { z } from 'zod';

/** A count covers this many milliseconds; the last so many counts are kept: two minutes. */
const span = 5_000;
const kept = 24;

/** Events per five seconds, the latest last; times are counted in spans since 1970. */
export const activity = z.object({
  last: z.int().nonnegative().describe('The span that the last count belongs to.'),
  counts: z.array(z.int().nonnegative()).max(kept),
});
export type Activity = z.infer<typeof activity>;

export const noActivity: Activity = { last: 0, counts: [] };

/** Counts one event at `time`, an ISO date; a clock that went back counts as the latest span. */
export function countedActivity(known: Activity, time: string): Activity {
  const { last, counts } = movedTo(known, Date.parse(time));
  return { last, counts: [...counts.slice(0, -1), (counts.at(-1) ?? 0) + 1] };
}

/** The counts as they stand at `now`, in milliseconds since 1970. */
export const activityAt = (known: Activity, now: number): readonly number[] =>
  movedTo(known, now).counts;

function movedTo({ last, counts }: Activity, now: number): Activity {
  const at = Math.max(last, Math.floor(now / span));
  const empty = Array.from({ length: Math.min(at - last, kept) }, () => 0);
  return { last: at, counts: [...counts, ...empty].slice(-kept) };
}
