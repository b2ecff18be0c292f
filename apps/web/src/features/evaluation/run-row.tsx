import { Link } from '@tanstack/react-router';
import { ageText, dollarsText, percentText, type EvaluationSummary } from '@belay/protocol';
import { MoreHorizontal } from 'lucide-react';
import { IconButton } from '@/components/ui/icon-button';
import { Menu } from '@/components/ui/menu';
import { Meter } from '@/components/ui/meter';
import { askConfirm } from '@/lib/ask';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { EvaluationState } from './evaluation-state';
import { intervalText, trialCount, validityWords } from './run-words';

const columns =
  'grid grid-cols-[minmax(0,1fr)_150px_170px_150px_56px_56px_28px] items-center gap-x-4 px-4 max-lg:grid-cols-[minmax(0,1fr)_150px_150px_28px] max-md:grid-cols-[minmax(0,1fr)_28px]';

/** Column headers; each row repeats them for screen readers. */
export function RunListHeader() {
  return (
    <div
      aria-hidden
      className={`${columns} h-7 shrink-0 border-b text-xs text-faint max-md:hidden`}
    >
      <span>Suite and agent</span>
      <span className="max-lg:hidden">State</span>
      <span>Score</span>
      <span>Progress</span>
      <span className="text-right max-lg:hidden">Cost</span>
      <span className="text-right max-lg:hidden">Age</span>
      <span />
    </div>
  );
}

/** One run as a row. */
export function RunRow({ run, now }: { run: EvaluationSummary; now: number }) {
  const readOnly = useReadOnly();
  const name = `${run.suite} · ${run.model ?? run.agent}`;
  return (
    <article
      aria-label={name}
      className={`${columns} min-h-15 border-b py-1.5 hover:bg-hover/40 max-md:gap-y-1`}
    >
      <div className="min-w-0">
        <Link
          to="/evaluations/$id"
          params={{ id: run.id }}
          className="block truncate font-medium hover:underline"
        >
          {name}
        </Link>
        <p className="truncate font-mono text-xs text-faint" title={run.folder}>
          {run.model ? `${run.agent} · ` : ''}
          {run.folder}
        </p>
      </div>
      <div className="max-lg:hidden">
        <EvaluationState run={run} now={now} />
      </div>
      <div className="text-sm tabular-nums max-md:col-span-2 max-md:row-start-2 max-md:flex max-md:items-baseline max-md:gap-3">
        {run.score ? (
          <>
            <p>
              <span className="font-medium">{percentText(run.score.value)}</span>{' '}
              <span className="text-xs text-faint">{intervalText(run.score.interval)}</span>
            </p>
            <p className="text-xs text-faint">{validityWords(run)}</p>
          </>
        ) : (
          <span className="text-faint">no verdict yet</span>
        )}
      </div>
      <div className="text-xs text-muted tabular-nums max-md:col-span-2 max-md:row-start-3">
        <Meter label={`Trials of ${name}`} value={run.done} max={trialCount(run)} plain />
        <p className="mt-1">
          {run.done} of {trialCount(run)} <span className="sr-only">trials done</span>
          <span className="ml-3 lg:hidden">
            <EvaluationState run={run} now={now} />
          </span>
        </p>
      </div>
      <span className="text-right text-sm text-muted tabular-nums max-lg:hidden">
        {dollarsText(run.dollars)}
      </span>
      <span
        className="text-right text-sm text-muted tabular-nums max-lg:hidden"
        title={run.created}
      >
        {ageText(run.created, now)}
      </span>
      {readOnly ? (
        <span />
      ) : (
        <Menu
          trigger={
            <IconButton
              label={`More for ${name}`}
              icon={MoreHorizontal}
              className="max-md:col-start-2 max-md:row-start-1"
            />
          }
          items={() => [
            {
              label: 'Remove from the board…',
              danger: true,
              run: () => attempt(() => remove(run)),
            },
          ]}
        />
      )}
    </article>
  );
}

async function remove({ id, folder }: EvaluationSummary): Promise<void> {
  const sure = await askConfirm({
    title: 'Remove this run from the board?',
    text: `Its results stay in ${folder}, and the sessions of its trials stay in the fleet.`,
    verb: 'Remove',
    danger: true,
  });
  if (sure) await client.evaluations.remove(id);
}
