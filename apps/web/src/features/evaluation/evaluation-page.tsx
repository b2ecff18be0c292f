import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { errorFrom, percentText, type EvaluationSummary } from '@belay/protocol';
import { clsx } from 'clsx';
import { NoPage } from '@/components/no-page';
import { Page } from '@/components/page';
import { Empty, Loading } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { VirtualList } from '@/components/ui/virtual-list';
import { useNow } from '@/lib/use-now';
import {
  evaluationQuery,
  evaluationsQuery,
  trialCellKey,
  trialsQuery,
  useEvaluationUpdates,
} from './queries';
import { RunHeader } from './run-header';
import { TaskLine } from './task-line';
import { taskRows, trialsAtRest, type TaskRow } from './task-rows';
import { TrialDetail } from './trial-detail';
import { TrialFilters } from './trial-filters';

const route = getRouteApi('/evaluations/$id');
const taskOf = ({ task }: TaskRow): string => task;

/** The live board of one benchmark run. */
export function EvaluationPage() {
  useEvaluationUpdates();
  const { id } = route.useParams();
  const run = useQuery(evaluationQuery(id));
  const runs = useQuery(evaluationsQuery);
  const summary = runs.data?.find((each) => each.id === id) ?? run.data?.summary;
  if (run.isError && errorFrom(run.error).code === 'not_found')
    return <NoPage title={run.error.message} />;
  return (
    <Page title={titleOf(summary)} className="flex flex-col">
      <QueryState query={run} what="the run" />
      {run.data && summary && <Board summary={summary} tasks={run.data.tasks} />}
    </Page>
  );
}

function Board({ summary, tasks }: { summary: EvaluationSummary; tasks: string[] }) {
  const { id, attempts, validity } = summary;
  const filter = route.useSearch();
  const now = useNow(1_000);
  const trials = useQuery({
    ...trialsQuery(id),
    // Polls until the trials are as new as the summary, less often after a failure.
    refetchInterval: ({ state }) =>
      (state.data?.seq ?? 0) < summary.seq && (state.status === 'error' ? 5_000 : 250),
  });
  if (tasks.length === 0) return <NoTasks summary={summary} now={now} />;
  if (!trials.data) return <Loading what="the trials" />;
  const shown = summary.state === 'running' ? trials.data : trialsAtRest(trials.data);
  const rows = taskRows({ tasks, attempts, flagged: validity?.flagged ?? [] }, shown, filter);
  const { task, attempt = 1 } = filter;
  const isOpen = task !== undefined && tasks.includes(task);
  return (
    <>
      <RunHeader run={summary} now={now} />
      <div className="flex min-h-0 flex-1">
        <div className={clsx('flex min-w-0 flex-1 flex-col', isOpen && 'max-md:hidden')}>
          <TrialFilters run={summary} filter={filter} />
          {rows.length === 0 ? (
            <Empty title="No matching tasks">
              <Link to="/evaluations/$id" params={{ id }} className="underline">
                Show all {tasks.length}
              </Link>
            </Empty>
          ) : (
            <VirtualList
              items={rows}
              keyOf={taskOf}
              estimate={37}
              label="Tasks"
              className="min-h-0 flex-1 overflow-y-auto"
              render={(row) => (
                <TaskLine row={row} run={id} open={isOpen ? { task, attempt } : null} />
              )}
            />
          )}
        </div>
        {isOpen && (
          <TrialDetail
            key={trialCellKey(task, attempt)}
            run={id}
            task={task}
            attempt={attempt}
            attempts={attempts}
            trial={shown.byKey.get(trialCellKey(task, attempt))}
            flagged={validity?.flagged.find((each) => each.task === task)?.why}
          />
        )}
      </div>
    </>
  );
}

/** A run that has not read its data yet, or could not. */
function NoTasks({ summary, now }: { summary: EvaluationSummary; now: number }) {
  return (
    <>
      <RunHeader run={summary} now={now} />
      {summary.state === 'running' ? (
        <Empty title="The run is starting">Its tasks appear here when it has read its data.</Empty>
      ) : (
        <Empty title="No task was run" />
      )}
    </>
  );
}

function titleOf(run: EvaluationSummary | undefined): string {
  if (!run) return 'Evaluation · Belay';
  const score = run.score ? `${percentText(run.score.value)} · ` : '';
  return `${score}${run.suite} · Belay`;
}
