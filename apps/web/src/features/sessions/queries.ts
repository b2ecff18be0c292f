import { useCallback, useEffect, useSyncExternalStore } from 'react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { SessionState, SessionSummary } from '@belay/protocol';
import { liveList } from '@/lib/live-list';
import { client, live } from '@/lib/server';
import { perFrame } from '@/lib/per-frame';
import { queryClient } from '@/lib/query';
import { notifyOf } from '@/lib/notify';

const sessions = liveList<SessionSummary>({
  name: 'sessions',
  list: () => client.sessions.list(),
  version: ({ lastSeq }) => lastSeq,
});
export const sessionsQuery = sessions.query;

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: () => client.models(),
});

export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: () => client.providers(),
});

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: () => client.settings.read(),
});

export const mcpQuery = queryOptions({
  queryKey: ['mcp'],
  queryFn: () => client.mcp.list(),
});

export const examplesQuery = queryOptions({
  queryKey: ['examples'],
  queryFn: () => client.examples(),
});

/** Keeps the list of sessions in the cache as the server tells of changes. */
export function useFleetUpdates(): void {
  useEffect(() => {
    const put = perFrame<{ id: string; summary: SessionSummary | null }>((changes) => {
      const known = queryClient.getQueryData(sessionsQuery.queryKey) ?? [];
      const before = new Map(known.map((summary) => [summary.id, summary]));
      for (const { id, summary } of changes) {
        if (!summary) continue;
        notifyOf(before.get(id), summary);
        before.set(id, summary);
      }
      sessions.put(changes);
    });
    const watch = live().fleet((id, summary) => put({ id, summary }));
    // What was deleted while the connection was gone is told by nobody: the list is asked again.
    const stop = live().onState((state) => {
      if (state === 'live') void queryClient.invalidateQueries(sessionsQuery);
    });
    return () => {
      stop();
      watch.close();
    };
  }, []);
}

/** One session in one line, as it is now. Drawn again only when this one changed. */
export function useSummary(id: string): SessionSummary | undefined {
  return useSummaryPart(id, whole);
}

export const useSessionState = (id: string): SessionState | undefined =>
  useSummaryPart(id, stateOf);

export const useTitle = (id: string): string | undefined => useSummaryPart(id, titleOf);

/** The summary as it is now, for what a person does with it. */
export const summaryNow = (id: string): SessionSummary | undefined =>
  queryClient.getQueryData(sessionsQuery.queryKey)?.find((summary) => summary.id === id);

/** Whether a call waits for a person. */
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
 * A part of a session's summary; drawn again only when this part changed, where the whole changes with each event.
 * Give the same function each time.
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

export const useLiveState = () =>
  useSyncExternalStore(
    (changed) => live().onState(changed),
    () => live().state,
  );
