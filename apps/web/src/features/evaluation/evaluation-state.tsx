import { ageText, dateTimeText, type EvaluationSummary } from '@belay/protocol';
import { clsx } from 'clsx';
import { isSilent } from './run-words';

const colours = {
  running: 'text-run',
  finished: 'text-pass',
  interrupted: 'text-muted',
  failed: 'text-fail',
} as const;

/** The state of a run; for a silent one, the time since its last report. */
export function EvaluationState({ run, now }: { run: EvaluationSummary; now: number }) {
  const silent = isSilent(run, now);
  const word = run.state === 'running' && run.phase !== 'trials' ? run.phase : run.state;
  return (
    <span
      title={silent ? `Last report ${dateTimeText(run.reported)}` : undefined}
      className={clsx(
        'inline-flex items-center gap-1.5 text-sm',
        silent ? 'text-muted' : colours[run.state],
      )}
    >
      <span
        aria-hidden
        className={clsx(
          'size-2 shrink-0 rounded-full border-[1.5px] border-current',
          !silent && run.state !== 'interrupted' && 'bg-current',
          !silent && run.state === 'running' && 'animate-breathe',
        )}
      />
      {silent ? `no report for ${ageText(run.reported, now)}` : word}
    </span>
  );
}
