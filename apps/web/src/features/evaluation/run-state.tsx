import type { EvaluationSummary } from '@belay/protocol';
import { cx } from '@/lib/classes';
import { age, moment } from '@/lib/format';
import { isSilent } from './run-words';

const colours = {
  running: 'text-run',
  finished: 'text-pass',
  interrupted: 'text-muted',
  failed: 'text-fail',
} as const;

/** Whether a run goes on, and for how long it was not heard of if it has fallen silent. */
export function RunState({ run, now }: { run: EvaluationSummary; now: number }) {
  const silent = isSilent(run, now);
  const word = run.state === 'running' && run.phase === 'preflight' ? 'preflight' : run.state;
  return (
    <span
      title={silent ? `Heard from last ${moment(run.heard)}` : undefined}
      className={cx(
        'inline-flex items-center gap-1.5 text-sm',
        silent ? 'text-muted' : colours[run.state],
      )}
    >
      <span
        aria-hidden
        className={cx(
          'size-2 shrink-0 rounded-full border-[1.5px] border-current',
          !silent && run.state !== 'interrupted' && 'bg-current',
          !silent && run.state === 'running' && 'animate-breathe',
        )}
      />
      {silent ? `not heard from for ${age(run.heard, now)}` : word}
    </span>
  );
}
