import { useCallback, useMemo, useState } from 'react';
import type { SessionSummary } from '@belay/protocol';
import { Link } from '@tanstack/react-router';
import { Empty } from '@/components/ui/empty';
import { VirtualList } from '@/components/ui/virtual-list';
import { useNow } from '@/lib/use-now';
import { usePreferences } from '@/lib/preferences';
import { useReadOnly } from '@/lib/role';
import { toggled } from '@/lib/toggled';
import { ComparisonRow } from './comparison-row';
import { FleetBulk } from './fleet-bulk';
import { FleetFilters } from './fleet-filters';
import { fleetLines, keyOfLine } from './fleet-lines';
import { FleetHeader } from './fleet-header';
import { groupFleet, type FleetFilter } from './fleet-order';
import { FleetRow } from './fleet-row';
import { FleetTotals } from './fleet-totals';
import { LanesView } from './lanes-view';
import { LogSearch } from './log-search';
import { SavedViews } from './saved-views';

interface FleetBoardProps {
  sessions: readonly SessionSummary[];
  filter: FleetFilter;
  picked: ReadonlySet<string>;
  onPick(id: string): void;
  onPickOnly(ids: ReadonlySet<string>): void;
}

/** The filters, and the matching sessions as a list or a board. */
export function FleetBoard({ sessions, filter, picked, onPick, onPickOnly }: FleetBoardProps) {
  const now = useNow(1_000);
  const readOnly = useReadOnly();
  const groups = useMemo(() => groupFleet(sessions, filter), [sessions, filter]);
  const board = usePreferences((state) => state.board);
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(() => new Set());
  const lines = useMemo(() => fleetLines(groups, unfolded), [groups, unfolded]);
  const toggle = useCallback(
    (comparison: string) => setUnfolded((now) => toggled(now, comparison)),
    [],
  );
  const shown = groups.flatMap((group) => group.sessions);
  const chosen = shown.filter(({ id }) => picked.has(id));
  return (
    <>
      <FleetFilters sessions={sessions} filter={filter}>
        {shown.length > 0 && <FleetTotals sessions={shown} now={now} />}
      </FleetFilters>
      <SavedViews filter={filter} />
      {filter.q && <LogSearch query={filter.q} sessions={sessions} />}
      {board ? (
        <LanesView sessions={sessions} filter={filter} />
      ) : shown.length === 0 ? (
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
            keyOf={keyOfLine}
            estimate={57}
            label="Sessions"
            className="min-h-0 flex-1 overflow-y-auto [scrollbar-gutter:stable]"
            render={(line) =>
              'session' in line ? (
                <FleetRow
                  session={line.session}
                  within={line.within}
                  picked={readOnly ? undefined : picked.has(line.session.id)}
                  onPick={onPick}
                />
              ) : 'comparison' in line ? (
                <ComparisonRow row={line} onToggle={toggle} />
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

function emptyTitle({ q, tag, show }: FleetFilter): string {
  if (q || tag) return 'No matching sessions';
  if (show === 'waiting') return 'Nothing is waiting for you.';
  if (show === 'archived') return 'The archive is empty.';
  return show === 'active' ? 'No session is running.' : 'No session has ended yet.';
}
