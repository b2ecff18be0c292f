import { useCallback, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { needsUser, type SessionSummary } from '@belay/protocol';
import { Page } from '@/components/page';
import { QueryState } from '@/components/ui/query-state';
import { sessionsQuery } from '@/lib/summaries';
import { toggled } from '@/lib/toggled';
import { FleetBoard } from './fleet-board';
import { useFleetKeys } from './use-fleet-keys';
import { Welcome } from './welcome';

const route = getRouteApi('/');

/** All sessions, as a list or a board. */
export function FleetPage() {
  const filter = route.useSearch();
  const sessions = useQuery(sessionsQuery);
  const waiting = (sessions.data ?? []).filter(isWaiting).length;
  const [picked, setPicked] = useState<ReadonlySet<string>>(() => new Set());
  const pick = useCallback((id: string) => setPicked((now) => toggled(now, id)), []);
  useFleetKeys(pick);
  return (
    <Page title={waiting ? `(${waiting}) Belay` : 'Belay'} className="flex flex-col">
      <h1 className="sr-only">Fleet</h1>
      <QueryState query={sessions} what="the sessions" />
      {sessions.data?.length === 0 && <Welcome />}
      {!!sessions.data?.length && (
        <FleetBoard
          sessions={sessions.data}
          filter={filter}
          picked={picked}
          onPick={pick}
          onPickOnly={setPicked}
        />
      )}
    </Page>
  );
}

const isWaiting = (session: SessionSummary): boolean => !session.archived && needsUser(session);
