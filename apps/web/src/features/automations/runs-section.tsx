import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { dollarsText, type AutomationInfo, type AutomationRun } from '@belay/protocol';
import { Choice } from '@/components/ui/choice';
import type { Option } from '@/components/ui/field';
import { Empty } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { VisibleText } from '@/components/ui/visible-text';
import { Age } from './age';
import { isRunOver, mostRows, runsQuery } from './queries';
import { RunRemedy } from './run-remedy';
import { RunStateLabel } from './run-mark';
import { eventTitle, runTitle } from './trigger-words';

/** Whether a run got as far as a session, or still may. */
const hasRun = (run: AutomationRun): boolean => run.session !== null || !isRunOver(run);

const shows = {
  all: () => true,
  ran: hasRun,
  not: (run: AutomationRun) => !hasRun(run),
} as const;

type Shown = keyof typeof shows;

const options: readonly Option<Shown>[] = [
  { value: 'all', label: 'All' },
  { value: 'ran', label: 'Ran' },
  { value: 'not', label: 'Not run' },
];

/** The runs, and the decisions against one. */
export function RunsSection({ automation: { name } }: { automation: AutomationInfo }) {
  const runs = useQuery(runsQuery(name));
  const [show, setShow] = useState<Shown>('all');
  const shown = runs.data?.filter(shows[show]) ?? [];
  return (
    <div className="space-y-3">
      <QueryState query={runs} what="the runs" />
      {runs.data?.length === 0 && (
        <Empty title="No runs yet">
          Every event that could begin one is listed here, also if it did not, with the reason.
        </Empty>
      )}
      {runs.data !== undefined && runs.data.length > 0 && (
        <Choice
          label="Runs to show"
          value={show}
          options={options}
          onChange={(next) => setShow(next)}
        />
      )}
      {runs.data !== undefined && runs.data.length > 0 && shown.length === 0 && (
        <Empty title={show === 'ran' ? 'None of them ran' : 'All of them ran'} />
      )}
      {shown.length > 0 && (
        <ul aria-label="Runs" className="divide-y rounded-md border bg-panel">
          {shown.map((run) => (
            <Row key={run.id} run={run} />
          ))}
        </ul>
      )}
      {runs.data?.length === mostRows && (
        <p className="text-xs text-faint">The latest {mostRows} are listed.</p>
      )}
    </div>
  );
}

function Row({ run }: { run: AutomationRun }) {
  const { id, automation, subject, event, why, dollars, created, pullRequest } = run;
  return (
    <li>
      <Link
        to="/automations/$name/runs/$run"
        params={{ name: automation, run: id }}
        className="flex items-start justify-between gap-4 px-4 py-2.5 text-sm hover:bg-hover"
      >
        <span className="min-w-0">
          <span className="flex items-baseline gap-2">
            <RunStateLabel run={run} />
            <span className="min-w-0 truncate font-medium">
              <VisibleText text={runTitle(run)} />
            </span>
            {event !== subject && (
              <span className="shrink-0 text-xs text-faint">{eventTitle(event)}</span>
            )}
          </span>
          {why !== null && (
            <span className="line-clamp-3 break-words text-muted">
              <VisibleText text={why} />
            </span>
          )}
        </span>
        <span className="flex shrink-0 flex-col items-end text-xs text-faint tabular-nums">
          <Age time={created} />
          {dollars > 0 && <span>{dollarsText(dollars)}</span>}
          {pullRequest && <span>#{pullRequest.number}</span>}
        </span>
      </Link>
      <RunRemedy
        run={run}
        className="-mt-1.5 block w-fit px-4 pb-2.5 text-sm text-muted underline hover:text-ink"
      />
    </li>
  );
}
