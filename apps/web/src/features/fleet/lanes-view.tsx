import { useMemo, useState, type KeyboardEvent } from 'react';
import type { SessionSummary } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import type { FleetFilter } from './fleet-order';
import { lanes, sessionsByLane, type Lane } from './lanes';
import { LaneCard } from './lane-card';

/** How many cards a lane shows at first, and how many each click adds. */
const pageSize = 50;

interface LanesViewProps {
  sessions: readonly SessionSummary[];
  filter: FleetFilter;
}

/** The fleet as a board with a lane for each stage. Arrow keys move between cards. */
export function LanesView({ sessions, filter }: LanesViewProps) {
  const { q, tag } = filter;
  const byLane = useMemo(() => sessionsByLane(sessions, { q, tag }), [sessions, q, tag]);
  return (
    <div
      role="group"
      aria-label="Board of sessions"
      className="flex min-h-0 flex-1 gap-3 overflow-x-auto p-3 max-md:flex-col max-md:overflow-x-hidden max-md:overflow-y-auto"
      onKeyDown={moveFocus}
    >
      {lanes.map((lane) => (
        <LaneColumn key={lane} lane={lane} sessions={byLane.get(lane) ?? []} />
      ))}
    </div>
  );
}

function LaneColumn({ lane, sessions }: { lane: Lane; sessions: readonly SessionSummary[] }) {
  const [shown, setShown] = useState(pageSize);
  const id = `lane-${lane.toLowerCase().replace(' ', '-')}`;
  const left = sessions.length - shown;
  return (
    <section
      aria-labelledby={id}
      data-lane={lane}
      className="flex min-h-0 min-w-60 flex-1 flex-col rounded-lg border bg-sunken/60 max-md:min-h-fit max-md:flex-none"
    >
      <h2 id={id} className="px-3 py-2 text-sm font-medium text-muted">
        {lane} <span className="font-normal tabular-nums">{sessions.length}</span>
      </h2>
      {sessions.length === 0 ? (
        <p className="px-3 pb-3 text-sm text-faint">{emptyLanes[lane]}</p>
      ) : (
        <ul className="min-h-0 space-y-2 overflow-y-auto px-2 pb-2 max-md:overflow-visible">
          {sessions.slice(0, shown).map((session) => (
            <li key={session.id}>
              <LaneCard session={session} lane={lane} />
            </li>
          ))}
          {left > 0 && (
            <li>
              <Button small className="w-full" onClick={() => setShown(shown + pageSize)}>
                Show {Math.min(left, pageSize)} more of {left}
              </Button>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}

const emptyLanes: Record<Lane, string> = {
  Queued: 'Sessions waiting for a free sandbox.',
  Working: 'Sessions with a running agent.',
  'Needs you': 'Sessions waiting for your answer.',
  Review: 'Ended sessions, until you archive them.',
  Done: 'Archived or stopped sessions.',
};

const steps: Record<string, readonly [lane: number, card: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/**
 * Up and Down move within a lane; Left and Right to the same position in the next non-empty one.
 */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const by = steps[event.key];
  if (!by || !(event.target instanceof HTMLElement) || !event.target.matches('a[data-session]'))
    return;
  const columns = [...event.currentTarget.querySelectorAll('[data-lane]')]
    .map((lane) => [...lane.querySelectorAll<HTMLElement>('a[data-session]')])
    .filter((links) => links.length > 0);
  const lane = columns.findIndex((links) => links.includes(event.target as HTMLElement));
  const card = columns[lane]?.indexOf(event.target) ?? 0;
  const target = columns[lane + by[0]];
  const link = by[0] === 0 ? target?.[card + by[1]] : target?.[Math.min(card, target.length - 1)];
  if (!link) return;
  event.preventDefault();
  link.focus();
  link.closest('article')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}
