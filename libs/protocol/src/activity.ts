import { z } from 'zod';

/** The milliseconds that a count covers, and the number of counts that are kept: two minutes. */
const span = 5_000;
const kept = 24;

/** Events per five seconds, the latest last; times are counted in spans since 1970. */
export const activity = z.object({
  last: z.int().nonnegative().describe('The time span of the last count, numbered from 1970.'),
  counts: z.array(z.int().nonnegative()).max(kept),
});
export type Activity = z.infer<typeof activity>;

export const noActivity: Activity = { last: 0, counts: [] };

/** Counts one event at `time`, an ISO date; after a clock moves backward, events count for the latest span. */
export function countedActivity(known: Activity, time: string): Activity {
  const { last, counts } = movedTo(known, Date.parse(time));
  return { last, counts: [...counts.slice(0, -1), (counts.at(-1) ?? 0) + 1] };
}

/** The counts as they stand at `now`, in milliseconds since 1970. */
export const activityAt = (known: Activity, now: number): readonly number[] =>
  movedTo(known, now).counts;

function movedTo({ last, counts }: Activity, now: number): Activity {
  const at = Math.max(last, Math.floor(now / span));
  if (at === last) return { last, counts };
  const empty = Array.from({ length: Math.min(at - last, kept) }, () => 0);
  return { last: at, counts: [...counts, ...empty].slice(-kept) };
}
