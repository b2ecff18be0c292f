import { create } from 'zustand';
import type { SessionSummary } from '@belay/protocol';

const bucket = 5_000;
const kept = 24;

interface Activity {
  /** Events per five seconds, the latest last, by session. */
  bars: ReadonlyMap<string, { at: number; lastSeq: number; counts: readonly number[] }>;
}

export const useActivity = create<Activity>()(() => ({ bars: new Map() }));

/** Counts what summaries tell of new events, for the sparkline of the fleet. */
export function recordActivity(summaries: readonly SessionSummary[], now = Date.now()): void {
  const bars = new Map(useActivity.getState().bars);
  for (const { id, lastSeq } of summaries) {
    const known = bars.get(id) ?? { at: now, lastSeq, counts: [0] };
    const counts = shift(known.counts, Math.floor((now - known.at) / bucket));
    const fresh = Math.max(0, lastSeq - known.lastSeq);
    const at = known.at + Math.floor((now - known.at) / bucket) * bucket;
    bars.set(id, { at, lastSeq, counts: [...counts.slice(0, -1), (counts.at(-1) ?? 0) + fresh] });
  }
  useActivity.setState({ bars });
}

/** The counts as they stand `steps` buckets later. */
export function shift(counts: readonly number[], steps: number): readonly number[] {
  const empty = Array.from({ length: Math.min(steps, kept) }, () => 0);
  return [...counts, ...empty].slice(-kept);
}

export const countsNow = (
  bar: { at: number; counts: readonly number[] } | undefined,
  now: number,
): readonly number[] => (bar ? shift(bar.counts, Math.floor((now - bar.at) / bucket)) : []);
