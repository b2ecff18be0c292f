import type { ReactNode } from 'react';
import { clsx } from 'clsx';
import {
  countText,
  dollarsText,
  durationText,
  percentText,
  type EvaluationSummary,
} from '@belay/protocol';
import { BackLink } from '@/components/ui/back-link';
import { Button } from '@/components/ui/button';
import { Meter } from '@/components/ui/meter';
import { attemptConfirmed } from '@/lib/ask';
import { useAdmin } from '@/lib/role';
import { client } from '@/lib/server';
import { EvaluationState } from './evaluation-state';
import {
  isSilent,
  secondsLeft,
  intervalText,
  startWords,
  trialCount,
  validityWords,
} from './run-words';

/** Score, counts, progress, cost and time of a run. */
export function RunHeader({ run, now }: { run: EvaluationSummary; now: number }) {
  const { outcomes, score } = run;
  const isAdmin = useAdmin();
  const left = secondsLeft(run, now);
  const all = trialCount(run);
  return (
    <header className="shrink-0 border-b bg-panel px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <BackLink to="/evaluations">All runs</BackLink>
        <h1 className="min-w-0 truncate text-lg font-semibold">
          {run.suite} · {run.model ?? run.agent}
        </h1>
        <EvaluationState run={run} now={now} />
        {isAdmin && run.start && run.state === 'running' && (
          <Button small look="danger" className="ml-auto" onClick={() => stop(run)}>
            Stop
          </Button>
        )}
      </div>
      <dl className="mt-2 flex flex-wrap gap-x-8 gap-y-2">
        <Figure name="Score">
          {score ? (
            <>
              <span className="text-xl font-semibold">{percentText(score.value)}</span>{' '}
              <span className="text-xs text-faint">95%: {intervalText(score.interval)}</span>
            </>
          ) : (
            <span className="text-faint">no verdict yet</span>
          )}
        </Figure>
        <Figure name="Validity">
          {validityWords(run)}
          {score && score.valid !== null && (
            <span className="text-xs text-faint"> · {percentText(score.valid)} over these</span>
          )}
        </Figure>
        <Figure name="Verdicts">
          <span className="text-pass">{outcomes.pass} passed</span> ·{' '}
          <span className="text-fail">{outcomes.fail} failed</span> · {outcomes.invalid} invalid
        </Figure>
        <Figure name="Cost">
          {dollarsText(run.dollars)}{' '}
          <span className="text-xs text-faint">{countText(run.tokens)} tokens</span>
        </Figure>
        {run.checks && (
          <Figure name="Preflight">
            {run.checks.done} of {run.checks.all} checks
          </Figure>
        )}
        {left !== null && <Figure name="Time left">about {durationText(left)}</Figure>}
      </dl>
      <div className="mt-2 flex items-center gap-3 text-xs text-muted tabular-nums">
        <div className="w-64 max-sm:w-32">
          <Meter label="Trials done" value={run.done} max={all} plain />
        </div>
        {run.done} of {all} trials
      </div>
      <p className="mt-1 text-xs break-words text-faint">{startWords(run)}</p>
      <Note run={run} now={now} />
    </header>
  );
}

const stop = ({ id }: EvaluationSummary) =>
  attemptConfirmed(
    {
      title: 'Stop this run?',
      text: 'Its trials in progress end without a verdict. Finished trials are kept, and the run can be resumed.',
      verb: 'Stop',
      danger: true,
    },
    () => client.evaluations.stop(id),
  );

/** Why a run has stopped and how to continue it. */
function Note({ run, now }: { run: EvaluationSummary; now: number }) {
  const silent = isSilent(run, now);
  if (!silent && !run.reason) return null;
  // There is nothing to continue until a run has read its data.
  const goOn =
    run.phase !== 'starting' && (silent || run.state === 'interrupted' || run.state === 'failed');
  return (
    <p className={clsx('mt-2 text-sm', run.state === 'failed' ? 'text-fail' : 'text-muted')}>
      {silent ? 'Its process was killed or cannot reach this server. ' : `${run.reason} `}
      {goOn && (
        <>
          To continue, run on {run.host}:{' '}
          <code className="break-all">belay eval resume {run.folder}</code>
        </>
      )}
    </p>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="text-sm leading-7 tabular-nums">{children}</dd>
    </div>
  );
}
