import type { AutomationRun, RunState } from '@belay/protocol';
import { clsx } from 'clsx';

const colours: Record<RunState, string> = {
  pending: 'border-faint text-muted',
  queued: 'border-faint text-muted',
  starting: 'border-run text-run',
  working: 'border-run bg-run text-run',
  proving: 'border-run bg-run text-run',
  publishing: 'border-run bg-run text-run',
  done: 'border-pass bg-pass text-pass',
  skipped: 'border-faint text-muted',
  refused: 'border-amber-fill bg-amber-fill text-amber',
  failed: 'border-fail bg-fail text-fail',
  cancelled: 'border-faint bg-faint text-muted',
};

/** What came of runs that are done. */
const outcomes: Readonly<Record<string, string>> = {
  published: 'published',
  speculative: 'published, unproven',
  answered: 'answered',
  nothing: 'nothing sent',
  stuck: 'stuck',
};

/** The state of a run in a word or two. */
export const runWords = ({ state, code }: Pick<AutomationRun, 'state' | 'code'>): string =>
  (state === 'done' && code !== null && outcomes[code]) || state;

/** Yellow is for what needs a user. */
const lookOf = ({ state, code }: AutomationRun): string[] =>
  (state === 'done' && code === 'stuck' ? colours.refused : colours[state]).split(' ');

/** A run’s state as a dot and words, never by colour alone. */
export function RunStateLabel({ run }: { run: AutomationRun }) {
  const [border = '', ...rest] = lookOf(run);
  return (
    <span className={clsx('inline-flex items-center gap-1.5 whitespace-nowrap', rest.at(-1))}>
      <Dot border={border} fill={rest.length > 1 ? rest[0] : undefined} />
      {runWords(run)}
    </span>
  );
}

/** The latest runs as marks, the newest on the right. */
export function RunMarks({ runs }: { runs: readonly AutomationRun[] }) {
  if (runs.length === 0) return <span className="text-xs text-faint">no runs yet</span>;
  const inOrder = runs.toReversed();
  const words = inOrder.map(runWords).join(', ');
  return (
    <span role="img" aria-label={`Latest runs: ${words}`} className="inline-flex gap-1">
      {inOrder.map((run) => {
        const [border = '', ...rest] = lookOf(run);
        return (
          <span key={run.id} title={`${run.subject}: ${runWords(run)}`}>
            <Dot border={border} fill={rest.length > 1 ? rest[0] : undefined} />
          </span>
        );
      })}
    </span>
  );
}

const Dot = ({ border, fill }: { border: string; fill: string | undefined }) => (
  <span
    aria-hidden
    className={clsx('inline-block size-2 shrink-0 rounded-full border-[1.5px]', border, fill)}
  />
);
