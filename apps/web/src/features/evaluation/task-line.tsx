import { Link } from '@tanstack/react-router';
import { dollarsText, elapsedText, type EvaluationTrial } from '@belay/protocol';
import { clsx } from 'clsx';
import { trialWords } from './run-words';
import { shownOf, type TaskRow } from './task-rows';
import { VerdictMark } from './verdict-mark';

interface TaskLineProps {
  row: TaskRow;
  run: string;
  /** The trial shown beside the table. */
  open: { task: string; attempt: number } | null;
}

/** A task with its attempts, each a link to its details. */
export function TaskLine({ row, run, open }: TaskLineProps) {
  const { task, trials, flagged } = row;
  const [only] = trials;
  const single = trials.length === 1;
  return (
    <div
      className={clsx(
        'grid min-h-9 grid-cols-[minmax(0,20rem)_minmax(0,1fr)_8rem] items-center gap-x-4 border-b px-4 py-1 hover:bg-hover/40 max-md:grid-cols-[minmax(0,1fr)_auto]',
        open?.task === task && 'bg-hover/60',
      )}
    >
      <div className="flex min-w-0 items-center gap-2">
        <span className="truncate font-mono text-xs">{task}</span>
        {flagged && (
          <span title={flagged} className="rounded-sm bg-amber-soft px-1 text-xs text-amber">
            flagged
          </span>
        )}
      </div>
      <div className="flex min-w-0 flex-wrap items-center gap-1">
        {trials.map((trial, index) => (
          <Attempt
            key={index}
            run={run}
            of={{ task, attempt: index + 1 }}
            trial={trial}
            word={single}
            isOpen={open?.task === task && open.attempt === index + 1}
          />
        ))}
        {single && (
          <span className="min-w-0 flex-1 truncate text-xs text-faint max-md:hidden">
            {only?.verdict && only.verdict.outcome !== 'pass' && only.verdict.detail}
          </span>
        )}
      </div>
      <span className="text-right text-xs text-faint tabular-nums max-md:hidden">
        {spent(trials)}
      </span>
    </div>
  );
}

interface AttemptProps {
  run: string;
  of: { task: string; attempt: number };
  trial: EvaluationTrial | undefined;
  word: boolean;
  isOpen: boolean;
}

function Attempt({ run, of, trial, word, isOpen }: AttemptProps) {
  const shown = shownOf(trial);
  return (
    <Link
      from="/evaluations/$id"
      to="/evaluations/$id"
      params={{ id: run }}
      search={(now) => ({ ...now, ...of })}
      replace
      preload={false}
      aria-label={`${of.task}, attempt ${of.attempt}: ${trialWords[shown]}`}
      aria-current={isOpen ? 'true' : undefined}
      className={clsx(
        'inline-flex h-6 min-w-6 items-center justify-center rounded-md hover:bg-hover',
        word && 'px-1.5 hover:underline',
        isOpen && 'bg-hover',
      )}
    >
      <VerdictMark shown={shown} word={word} />
    </Link>
  );
}

/** The total time and cost of the attempts that have a verdict. */
function spent(trials: readonly (EvaluationTrial | undefined)[]): string {
  const there = trials.filter((trial) => trial?.verdict);
  if (there.length === 0) return '';
  const sum = (of: (trial: EvaluationTrial) => number) =>
    there.reduce((total, trial) => total + (trial ? of(trial) : 0), 0);
  const cost = sum((trial) => trial.dollars);
  const time = elapsedText(sum(({ seconds }) => seconds.agent + seconds.verify));
  return cost > 0 ? `${time} · ${dollarsText(cost)}` : time;
}
