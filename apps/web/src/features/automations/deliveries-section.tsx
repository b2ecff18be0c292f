import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AutomationInfo, DeliveryRow } from '@belay/protocol';
import { Empty } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { VisibleText } from '@/components/ui/visible-text';
import { Age } from './age';
import { deliveriesQuery } from './queries';
import { eventTitle, isOwnEvent } from './trigger-words';

const states: Record<DeliveryRow['state'], string> = {
  received: 'received',
  done: 'taken up',
  duplicate: 'known already',
  ignored: 'ignored',
  refused: 'refused',
};

const transports: Record<DeliveryRow['transport'], string> = {
  webhook: 'by webhook',
  poll: 'by polling',
  url: 'by URL',
  schedule: 'by schedule',
  session: 'by a session',
  hand: 'by hand',
};

/** What was learned of, and what became of it. */
export function DeliveriesSection({ automation: { name } }: { automation: AutomationInfo }) {
  const deliveries = useQuery(deliveriesQuery(name));
  return (
    <>
      <QueryState query={deliveries} what="the deliveries" />
      {deliveries.data?.length === 0 && (
        <Empty title="Nothing was delivered yet">
          Webhooks, polling, times and requests are listed here once they arrive.
        </Empty>
      )}
      {deliveries.data !== undefined && deliveries.data.length > 0 && (
        <ul aria-label="Deliveries" className="divide-y rounded-md border bg-panel text-sm">
          {deliveries.data.map(({ id, transport, event, at, state, why, runs }) => (
            <li key={id} className="flex items-start justify-between gap-4 px-4 py-2">
              <span className="min-w-0">
                <span className="block">
                  <span className="font-medium">
                    <VisibleText text={eventTitle(event)} />
                  </span>{' '}
                  <span className="text-muted">
                    {!isOwnEvent(event) && `${transports[transport]}, `}
                    {states[state]}
                  </span>
                </span>
                {why !== null && (
                  <span className="block break-words text-muted">
                    <VisibleText text={why} />
                  </span>
                )}
                {runs.map((run) => (
                  <Link
                    key={run}
                    to="/automations/$name/runs/$run"
                    params={{ name, run }}
                    className="block w-fit text-muted underline hover:text-ink"
                  >
                    Its run
                  </Link>
                ))}
              </span>
              <span className="shrink-0 text-xs text-faint tabular-nums">
                <Age time={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
