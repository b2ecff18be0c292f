import {
  durationText,
  elapsedText,
  isEnded,
  numberText,
  runResultOf,
  totalOfChange,
  visibleText,
  type Event,
  type RunResult,
} from '@belay/protocol';
import { clsx } from 'clsx';
import { ShieldCheck } from 'lucide-react';
import { VisibleText } from '@/components/ui/visible-text';
import { hasFailed, type Result } from '@/features/session-log/call-result';
import { useIsPast, useSessionId, useView } from '@/features/session-log/session-context';
import { useSessionState, useWaits } from '@/lib/summaries';
import { changesAreUndone } from '@/features/session-log/undone';
import { useSessionTime } from '@/features/session-log/use-session-time';
import { decisionOf, decisionText } from './decision';

interface CallOutcomeProps {
  call: Event;
  result: Result | undefined;
  /** Whether the call was refused before it began. */
  refused?: boolean;
}

/** A brief summary of how a call ended, or that it is still running. */
export function CallOutcome({ call, result, refused = false }: CallOutcomeProps) {
  const id = call.id ?? '';
  const verdict = useView((view) => view.verdicts.get(id));
  const session = useSessionId();
  const past = useIsPast();
  const waiting = useWaits(session, id) && !past;
  const state = useSessionState(session);
  const denial = verdict && !decisionOf(verdict).allowed ? verdict : undefined;
  // A program that never got its call does not end it.
  if (denial) return <Verdict verdict={denial} />;
  if (result)
    return (
      <>
        {verdict && <Verdict verdict={verdict} />}
        <Ended call={id} result={result} refused={refused} />
      </>
    );
  if (!past && state !== undefined && isEnded(state))
    return <span className="shrink-0 text-xs text-faint">not finished</span>;
  if (waiting) return <span className="shrink-0 text-xs text-amber">waiting for you</span>;
  return <Running since={verdict?.time ?? call.time} past={past} />;
}

function Running({ since, past }: { since: string; past: boolean }) {
  return (
    <span className="flex shrink-0 items-center gap-1.5 text-xs text-run">
      <span
        aria-hidden
        className={clsx('size-1.5 rounded-full bg-run', !past && 'animate-breathe')}
      />
      running
      <Elapsed since={since} />
    </span>
  );
}

/** Who decided on the call, in a tooltip and for screen readers; the card of a denied call has the reason below. */
function Verdict({ verdict }: { verdict: Event }) {
  const { allowed, decider, edited } = decisionOf(verdict);
  const text = decisionText(verdict);
  if (!allowed)
    return (
      <span title={text} className="shrink-0 text-xs text-fail">
        denied
      </span>
    );
  return (
    <span title={text} className="flex shrink-0 items-center gap-1 text-xs text-faint">
      <ShieldCheck size={13} aria-hidden />
      {edited && `changed by ${decider}`}
      <span className="sr-only">{text}</span>
    </span>
  );
}

/** The elapsed time, shown after three seconds. */
function Elapsed({ since }: { since: string }) {
  const seconds = (useSessionTime() - Date.parse(since)) / 1_000;
  return seconds < 3 ? null : <span className="tabular-nums">{durationText(seconds)}</span>;
}

interface EndedProps {
  call: string;
  result: Result;
  refused: boolean;
}

function Ended({ call, result, refused }: EndedProps) {
  const commit = useView((view) => view.commits.get(call));
  const undone = useView((view) => changesAreUndone(view, call));
  const run = runResultOf(result.args);
  const lines = commit && totalOfChange(commit.args);
  if (refused) return <span className="shrink-0 text-xs text-faint">not run</span>;
  return (
    <span className="flex shrink-0 items-center gap-2 text-xs tabular-nums">
      {undone && <span className="text-faint">undone</span>}
      {lines && !undone && (
        <span>
          <span className="text-pass">+{numberText(lines.added)}</span>{' '}
          <span className="text-fail">−{numberText(lines.removed)}</span>
        </span>
      )}
      {typeof run?.exitCode === 'number' && (
        <span className={hasFailed(result) ? 'text-fail' : 'text-pass'}>exit {run.exitCode}</span>
      )}
      {!result.args.ok && <span className="text-fail">failed</span>}
      {run && <HowItEnded run={run} />}
      <span className="text-faint">{elapsedText(result.args.seconds)}</span>
    </span>
  );
}

/** What the exit code does not tell: a timeout, an interruption, or that the kernel killed it. */
function HowItEnded({ run: { status, killed } }: { run: RunResult }) {
  if (killed !== undefined)
    return (
      <span title={visibleText(killed)} className="max-w-64 truncate text-fail">
        <VisibleText text={killed} />
      </span>
    );
  if (status === 'timeout') return <span className="text-fail">timed out</span>;
  if (status === 'interrupted') return <span className="text-faint">interrupted</span>;
  return status === 'background' ? <span className="text-run">in background</span> : null;
}
