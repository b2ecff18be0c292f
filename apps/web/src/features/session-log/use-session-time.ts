import { isEnded } from '@belay/protocol';
import { useNow } from '@/lib/use-now';
import { recorded } from '@/lib/server';
import { useMoment, useSessionId } from './session-context';
import { useSessionState, useSummaryPart } from '@/lib/summaries';

/** The time up to which durations count: now, the session’s end, or the displayed moment. */
export function useSessionTime(everyMs = 1_000): number {
  const id = useSessionId();
  const state = useSessionState(id);
  const updated = useSummaryPart(id, updatedOf) ?? '';
  const past = useMoment(({ view }) => view?.lastTime ?? null);
  const stands = past !== null || recorded || (state !== undefined && isEnded(state));
  const now = useNow(everyMs, !stands);
  return stands ? Date.parse(past ?? updated) : now;
}

const updatedOf = ({ updated }: { updated: string }): string => updated;
