import { useCallback, useEffect } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { SessionState, SessionSummary } from '@belay/protocol';
import { liveList } from '@/lib/live-list';
import { noteQuestions } from '@/lib/new-questions';
import { notifyOf } from '@/lib/notify';
import { queryClient } from '@/lib/query-client';
import { client, live } from '@/lib/server';

const sessions = liveList<SessionSummary>({
  name: 'sessions',
  list: () => client.sessions.list(),
  version: ({ lastSeq }) => lastSeq,
});
export const sessionsQuery = sessions.query;

/** Applies the server’s updates to the cached list of sessions. */
export function useFleetUpdates(): void {
  useEffect(
    () =>
      sessions.follow(
        (changed) => live().fleet(changed),
        (changes) => {
          const known = queryClient.getQueryData(sessionsQuery.queryKey) ?? [];
          const before = new Map(known.map((summary) => [summary.id, summary]));
          for (const { id, summary } of changes) {
            noteQuestions(id, questionsOf(summary), questionsOf(before.get(id)));
            if (!summary) continue;
            notifyOf(before.get(id), summary);
            before.set(id, summary);
          }
          sessions.put(changes);
        },
      ),
    [],
  );
}

const questionsOf = (summary: SessionSummary | null | undefined): string[] =>
  summary?.waitingFor.map(({ id }) => id) ?? [];

/** A session’s summary. Rerenders only when it changes. */
export function useSummary(id: string): SessionSummary | undefined {
  return useSummaryPart(id, whole);
}

export const useSessionState = (id: string): SessionState | undefined =>
  useSummaryPart(id, stateOf);

export const useTitle = (id: string): string | undefined => useSummaryPart(id, titleOf);

/** The current summary, for use in event handlers. */
export const summaryNow = (id: string): SessionSummary | undefined =>
  queryClient.getQueryData(sessionsQuery.queryKey)?.find((summary) => summary.id === id);

/** Whether a call waits for the user. */
export function useWaits(session: string, call: string): boolean {
  const waits = useCallback(
    ({ waitingFor }: SessionSummary) => waitingFor.some(({ id }) => id === call),
    [call],
  );
  return useSummaryPart(session, waits) ?? false;
}

const whole = (summary: SessionSummary): SessionSummary => summary;
const stateOf = ({ state }: SessionSummary): SessionState => state;
const titleOf = ({ title }: SessionSummary): string => title;

/**
 * A part of a session’s summary. Rerenders only when this part changes, while the whole changes
 * with each event. Pass the same function each time.
 */
export function useSummaryPart<T>(id: string, part: (summary: SessionSummary) => T): T | undefined {
  const select = useCallback(
    (sessions: readonly SessionSummary[]) => {
      const found = sessions.find((summary) => summary.id === id);
      return found && part(found);
    },
    [id, part],
  );
  return useQuery({ ...sessionsQuery, select }).data;
}
