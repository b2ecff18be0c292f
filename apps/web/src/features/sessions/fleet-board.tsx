import { useMemo } from 'react';
import type { SessionSummary } from '@belay/protocol';
import { Link } from '@tanstack/react-router';
import { Empty } from '@/components/ui/empty';
import { VirtualList } from '@/components/ui/virtual-list';
import { useNow } from '@/lib/clock';
import { useReadOnly } from '@/lib/role';
import { FleetBulk } from './fleet-bulk';
import { FleetFilters } from './fleet-filters';
import { groupFleet, type FleetFilter, type FleetGroup } from './fleet-order';
import { FleetHeader, FleetRow } from './fleet-row';
import { FleetTotals } from './fleet-totals';
import { LogSearch } from './log-search';
import { SavedViews } from './saved-views';

interface FleetBoardProps {
  sessions: readonly SessionSummary[];
  filter: FleetFilter;
  picked: ReadonlySet<string>;
  onPick(id: string): void;
  onPickOnly(ids: ReadonlySet<string>): void;
}

/** Filters over the list of those sessions that they leave. */
export function FleetBoard({ sessions, filter, picked, onPick, onPickOnly }: FleetBoardProps) {
  const now = useNow(1_000);
  const readOnly = useReadOnly();
  const groups = useMemo(() => groupFleet(sessions, filter), [sessions, filter]);
  const lines = useMemo(() => groups.flatMap(linesOf), [groups]);
  const shown = groups.flatMap((group) => group.sessions);
  const chosen = shown.filter(({ id }) => picked.has(id));
  return (
    <>
      <FleetFilters sessions={sessions} filter={filter}>
        {shown.length > 0 && <FleetTotals sessions={shown} now={now} />}
      </FleetFilters>
      <SavedViews filter={filter} />
      {filter.q && <LogSearch query={filter.q} sessions={sessions} />}
      {shown.length === 0 ? (
        <Empty title={emptyTitle(filter)}>
          <Link to="/" search={{}} className="underline">
            Show all sessions
          </Link>
        </Empty>
      ) : (
        <>
          <FleetHeader
            picked={readOnly ? undefined : chosen.length === shown.length}
            onPick={(all) => onPickOnly(new Set(all ? shown.map(({ id }) => id) : []))}
          />
          <VirtualList
            items={lines}
            keyOf={keyOf}
            estimate={57}
            label="Sessions"
            className="min-h-0 flex-1 overflow-y-auto"
            render={(line) =>
              'session' in line ? (
                <FleetRow
                  session={line.session}
                  picked={readOnly ? undefined : picked.has(line.session.id)}
                  onPick={onPick}
                />
              ) : (
                <h2 className="border-b bg-sunken px-4 py-1 text-xs font-medium text-muted">
                  {line.title} <span className="font-normal tabular-nums">{line.count}</span>
                </h2>
              )
            }
          />
          {chosen.length > 0 && <FleetBulk picked={chosen} onDone={() => onPickOnly(new Set())} />}
        </>
      )}
    </>
  );
}

type Line = { session: SessionSummary } | { title: string; count: number };

const linesOf = ({ title, sessions }: FleetGroup): Line[] => [
  ...(title === null ? [] : [{ title, count: sessions.length }]),
  ...sessions.map((session) => ({ session })),
];

const keyOf = (line: Line): string => ('session' in line ? line.session.id : line.title);

function emptyTitle({ q, tag, show }: FleetFilter): string {
  if (q || tag) return 'No title, task or tag matches.';
  if (show === 'waiting') return 'Nothing waits for you.';
  if (show === 'archived') return 'The archive is empty.';
  return show === 'active' ? 'No session is at work.' : 'No session has ended yet.';
}
