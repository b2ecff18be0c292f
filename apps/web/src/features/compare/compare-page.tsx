import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { comparedNames, errorFrom, nameOfFailed, type Comparison } from '@belay/protocol';
import { NoPage } from '@/components/no-page';
import { Page } from '@/components/page';
import { QueryState } from '@/components/ui/query-state';
import { VisibleText } from '@/components/ui/visible-text';
import { sessionsQuery } from '@/lib/summaries';
import { useReadOnly } from '@/lib/role';
import { ComparedSession } from './compared-session';
import { KeepActions, KeptBar } from './keep-actions';
import { comparisonQuery } from './queries';

const route = getRouteApi('/compare/$id');

/** Sessions on one task by several models or agents, or in several runs, side by side. */
export function ComparePage() {
  const { id } = route.useParams();
  return <ComparisonView key={id} id={id} />;
}

export function ComparisonView({ id }: { id: string }) {
  const found = useQuery(comparisonQuery(id));
  const live = useQuery(sessionsQuery);
  if (found.isError && errorFrom(found.error).code === 'not_found')
    return <NoPage title={found.error.message} />;
  // Once the live list of sessions is loaded, it is newer than the response.
  const known = new Map(live.data?.map((session) => [session.id, session]));
  const comparison = found.data && {
    ...found.data,
    sessions: found.data.sessions.map((session) => known.get(session.id) ?? session),
  };
  return (
    <Page
      title={`Compare · ${comparison?.sessions[0]?.title ?? 'Belay'}`}
      className="overflow-y-auto"
    >
      <QueryState query={found} what="the comparison" />
      {comparison && <Compared comparison={comparison} />}
    </Page>
  );
}

function Compared({ comparison }: { comparison: Comparison }) {
  const readOnly = useReadOnly();
  const { sessions, failed, kept, check, task } = comparison;
  const title = sessions[0]?.title ?? 'Comparison';
  // The title is the first line of the task unless the user set another one.
  const rest = (task.startsWith(title) ? task.slice(title.length) : task).trim();
  const labels = labelsOf(comparedNames(sessions));
  return (
    <div className="space-y-4 p-4 max-sm:p-3">
      <header className="max-w-4xl space-y-1">
        <h1 className="text-xl font-semibold break-words">{title}</h1>
        {rest && (
          <p className="line-clamp-4 text-sm break-words whitespace-pre-wrap text-muted">
            <VisibleText text={rest} />
          </p>
        )}
        {check !== null && (
          <p className="text-sm text-muted">
            Check command, run by the server at the end: <code className="break-all">{check}</code>
          </p>
        )}
      </header>
      {failed.map((start, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- the list never changes
        <p key={index} role="alert" className="rounded-md bg-fail-soft p-3 text-sm break-words">
          <code>{nameOfFailed(start)}</code> was not started. {start.error}
        </p>
      ))}
      {kept && <KeptBar comparison={comparison} label={labelOf(kept.session)} />}
      <div className="grid gap-3 md:auto-cols-[minmax(300px,1fr)] md:grid-flow-col md:grid-rows-[auto_auto_1fr] md:gap-y-0 md:overflow-x-auto md:pb-2">
        {sessions.map((session, index) => (
          <ComparedSession
            key={session.id}
            session={session}
            label={labels[index] ?? session.model}
            kept={kept?.session === session.id}
          >
            {!readOnly && (
              <KeepActions comparison={comparison} session={session} labelOf={labelOf} />
            )}
          </ComparedSession>
        ))}
      </div>
    </div>
  );

  function labelOf(id: string): string {
    return labels[sessions.findIndex((session) => session.id === id)] ?? id;
  }
}

/** Numbers the runs of a name that occurs more than once. */
function labelsOf(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const run = (seen.get(name) ?? 0) + 1;
    seen.set(name, run);
    const isAlone = names.filter((each) => each === name).length === 1;
    return isAlone ? name : `${name} (run ${run})`;
  });
}
