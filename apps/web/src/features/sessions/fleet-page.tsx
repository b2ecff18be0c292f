import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { SessionSummary } from '@belay/protocol';
import { TopBar } from '@/app/top-bar';
import { Failed, Empty, Loading } from '@/components/ui/empty';
import { VirtualList } from '@/components/ui/virtual-list';
import { useNow } from '@/lib/clock';
import { DemoOffer } from './demo-offer';
import { FleetFilters } from './fleet-filters';
import { needsPerson, orderFleet } from './fleet-order';
import { FleetHeader, FleetRow } from './fleet-row';
import { LogSearch } from './log-search';
import { sessionsQuery } from './queries';

const route = getRouteApi('/');
const idOf = (session: SessionSummary): string => session.id;

/** The board of all sessions. */
export function FleetPage() {
  const filter = route.useSearch();
  const sessions = useQuery(sessionsQuery);
  const now = useNow(1_000);
  const shown = orderFleet(sessions.data ?? [], filter);
  const waiting = shown.filter(needsPerson).length;
  return (
    <>
      <title>{waiting ? `(${waiting}) Belay` : 'Belay'}</title>
      <TopBar />
      <main id="content" className="flex min-h-0 flex-1 flex-col">
        <h1 className="sr-only">Fleet</h1>
        {sessions.isPending && <Loading what="the sessions" />}
        {sessions.isError && (
          <Failed error={sessions.error} retry={() => void sessions.refetch()} />
        )}
        {sessions.data?.length === 0 && <DemoOffer />}
        {!!sessions.data?.length && (
          <>
            <FleetFilters sessions={sessions.data} filter={filter} />
            {filter.q && <LogSearch query={filter.q} sessions={sessions.data} />}
            {shown.length === 0 ? (
              <Empty title="No session matches.">Clear the filter to see all of them.</Empty>
            ) : (
              <>
                <FleetHeader />
                <VirtualList
                  items={shown}
                  keyOf={idOf}
                  estimate={57}
                  label="Sessions"
                  className="min-h-0 flex-1 overflow-y-auto"
                  render={(session) => <FleetRow session={session} now={now} />}
                />
              </>
            )}
          </>
        )}
      </main>
    </>
  );
}
