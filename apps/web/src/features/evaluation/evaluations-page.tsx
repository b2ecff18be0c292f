import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { EvaluationSummary } from '@belay/protocol';
import { Page } from '@/components/page';
import { Button } from '@/components/ui/button';
import { QueryState } from '@/components/ui/query-state';
import { VirtualList } from '@/components/ui/virtual-list';
import { useAdmin } from '@/lib/role';
import { useNow } from '@/lib/use-now';
import { evaluationsQuery, useEvaluationUpdates } from './queries';
import { RunListHeader, RunRow } from './run-row';
import { StartHint } from './start-hint';

const idOf = (run: EvaluationSummary): string => run.id;

/** All benchmark runs, newest first. */
export function EvaluationsPage() {
  const isAdmin = useAdmin();
  const navigate = useNavigate();
  useEvaluationUpdates();
  const runs = useQuery(evaluationsQuery);
  const now = useNow(1_000);
  const shown = (runs.data ?? []).toSorted((a, b) => b.created.localeCompare(a.created));
  return (
    <Page title="Evaluations · Belay" className="flex flex-col">
      <div className="flex shrink-0 items-center justify-between gap-3 border-b px-4 py-2">
        <h1 className="text-lg font-semibold">Evaluations</h1>
        {isAdmin && (
          <Button onClick={() => void navigate({ to: '/evaluations/new' })}>New run</Button>
        )}
      </div>
      <QueryState query={runs} what="the benchmark runs" />
      {runs.data?.length === 0 && <StartHint />}
      {shown.length > 0 && (
        <>
          <RunListHeader />
          <VirtualList
            items={shown}
            keyOf={idOf}
            estimate={61}
            label="Benchmark runs"
            className="min-h-0 flex-1 overflow-y-auto"
            render={(run) => <RunRow run={run} now={now} />}
          />
        </>
      )}
    </Page>
  );
}
