import { Link, useNavigate } from '@tanstack/react-router';
import { countText, dollarsText, elapsedText, type EvaluationTrial } from '@belay/protocol';
import { Play, X } from 'lucide-react';
import { IconButton } from '@/components/ui/icon-button';
import { causeWords } from './run-words';
import { shownOf } from './task-rows';
import { Detail } from '@/components/ui/detail';
import { RecordSection } from './record-section';
import { VerdictMark } from './verdict-mark';

interface TrialDetailProps {
  run: string;
  task: string;
  attempt: number;
  attempts: number;
  trial: EvaluationTrial | undefined;
  /** Why preflight flagged the task. */
  flagged: string | undefined;
}

/** One trial: its verdict and cause, its time and cost, and its record. */
export function TrialDetail({ run, task, attempt, attempts, trial, flagged }: TrialDetailProps) {
  const navigate = useNavigate({ from: '/evaluations/$id' });
  const close = () =>
    void navigate({
      search: (now) => ({ ...now, task: undefined, attempt: undefined }),
      replace: true,
    });
  return (
    <aside
      aria-label={`Trial of ${task}`}
      tabIndex={0}
      className="w-[46%] shrink-0 overflow-y-auto border-l bg-panel p-4 max-md:w-full max-md:border-l-0"
    >
      <div className="flex items-start gap-2">
        <h2 className="min-w-0 flex-1 py-1 font-mono text-sm font-medium break-all">
          {task}
          {attempts > 1 && <span className="font-sans text-faint"> · attempt {attempt}</span>}
        </h2>
        <IconButton label="Close the trial" icon={X} onClick={close} />
      </div>
      <div className="mt-1 flex flex-wrap items-center gap-3">
        <VerdictMark shown={shownOf(trial)} />
        {trial?.session && (
          <Link
            to="/sessions/$id"
            params={{ id: trial.session }}
            className="inline-flex h-6 items-center gap-1 text-sm underline"
          >
            <Play size={13} aria-hidden />
            {trial.verdict ? 'Replay the session' : 'Watch the session'}
          </Link>
        )}
      </div>
      {flagged && (
        <p className="mt-2 rounded-md bg-amber-soft px-3 py-2 text-sm">
          Preflight flagged this task: {flagged}
        </p>
      )}
      {!trial?.verdict && (
        <p className="mt-3 text-sm text-faint">
          The verdict, answer and test log appear here when the trial is done.
        </p>
      )}
      {trial?.verdict && <Verdict trial={trial} verdict={trial.verdict} />}
      {trial?.answer && <RecordSection title="Answer" run={run} blob={trial.answer} />}
      {trial?.log && <RecordSection title="Test log" run={run} blob={trial.log} />}
    </aside>
  );
}

function Verdict({
  trial: { place, seconds, tokens, dollars: cost },
  verdict,
}: {
  trial: EvaluationTrial;
  verdict: NonNullable<EvaluationTrial['verdict']>;
}) {
  return (
    <dl className="mt-3 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
      <Detail name="Reason">
        {verdict.cause && <span className="font-medium">{causeWords(verdict.cause)}: </span>}
        <span className="break-words whitespace-pre-wrap">{verdict.detail}</span>
      </Detail>
      {verdict.reward > 0 && verdict.reward < 1 && (
        <Detail name="Reward">{verdict.reward.toFixed(2)} of 1</Detail>
      )}
      {place && <Detail name="Place">{place}</Detail>}
      <Detail name="Time">
        build {elapsedText(seconds.build)} · agent {elapsedText(seconds.agent)} · tests{' '}
        {elapsedText(seconds.verify)}
      </Detail>
      {tokens > 0 && (
        <Detail name="Cost">
          {dollarsText(cost)} · {countText(tokens)} tokens
        </Detail>
      )}
    </dl>
  );
}
