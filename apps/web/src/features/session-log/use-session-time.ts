import { useMemo } from 'react';
import { isEnded, wallSeconds, workTimeAfter, type SessionSummary } from '@belay/protocol';
import { useNow } from '@/lib/use-now';
import { recorded } from '@/lib/server';
import { useLog, useMoment, useSessionId } from './session-context';
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

/** How long the session has worked, without pauses, ends and waits for the user: up to now, or to the displayed moment. */
export function useWorkSeconds(): number {
  const id = useSessionId();
  const now = useSessionTime();
  const live = useSummaryPart(id, workTimeOf) ?? noTime;
  const at = useMoment((moment) => moment.at);
  const events = useLog((log) => log.events);
  const past = useMemo(() => {
    if (at === null) return null;
    return events.filter(({ seq }) => seq <= at).reduce(workTimeAfter, noTime);
  }, [events, at]);
  return wallSeconds(past ?? live, now);
}

const noTime: SessionSummary['workTime'] = { seconds: 0, since: null };
const workTimeOf = ({ workTime }: SessionSummary) => workTime;

const updatedOf = ({ updated }: { updated: string }): string => updated;
