import { Check, ShieldQuestion, X } from 'lucide-react';
import { calledOperation, isEnded, requestedCall, type Event, type EventOf } from '@belay/protocol';
import { ApprovalActions } from '@/components/approvals/approval-actions';
import { approvalQuestion } from '@/components/approvals/approval-question';
import { VisibleText } from '@/components/ui/visible-text';
import { useIsPast, useSessionId, useView } from '@/features/session-log/session-context';
import { useSummary } from '@/lib/summaries';
import { useNow } from '@/lib/use-now';
import { decisionOf } from './decision';

/** A call that waits for the user’s approval, or the decision on it. */
export function ApprovalEntry({ event }: { event: Event & EventOf<'approval'> }) {
  const id = useSessionId();
  const summary = useSummary(id);
  const past = useIsPast();
  const verdict = useView((view) => view.verdicts.get(event.args.id));
  const result = useView((view) => view.results.get(event.args.id));
  // The card of the call shows who decided.
  if (verdict) return hasCard(event.args) ? null : <Decided event={event} verdict={verdict} />;
  const requested = requestedCall(event.args);
  const lines = requested.split('\n').length;
  const over = past || result !== undefined || !summary || isEnded(summary.state);
  return (
    <div className="py-2">
      <div
        className={`space-y-2 rounded-lg border px-3 py-2 [&:has(textarea)_pre]:max-h-[24vh] ${over ? '' : 'border-amber-fill bg-amber-soft'}`}
      >
        <p className="flex items-start gap-1.5 text-sm font-medium">
          <ShieldQuestion size={15} aria-hidden className="mt-0.5 shrink-0" />
          <span className="flex-1">
            <VisibleText text={approvalQuestion(event.args)} />
          </span>
          {lines > 1 && <span className="font-normal text-muted">{lines} lines</span>}
        </p>
        <pre
          tabIndex={0}
          aria-label="Requested call"
          className="max-h-[40vh] overflow-auto text-xs [overflow-wrap:anywhere] whitespace-pre-wrap"
        >
          <VisibleText text={requested} />
        </pre>
        {over ? (
          <p className="text-sm text-muted">Not answered</p>
        ) : (
          <>
            {event.args.until && <Countdown until={event.args.until} />}
            <ApprovalActions session={id} request={event.args} />
          </>
        )}
      </div>
    </div>
  );
}

/** Whether the call has its own card; connections do not. */
const hasCard = ({ operation }: { operation: string }): boolean => {
  const called = calledOperation(operation);
  return called !== undefined && called.display !== 'event';
};

function Decided({ event, verdict }: { event: Event & EventOf<'approval'>; verdict: Event }) {
  const { allowed, decider, reason } = decisionOf(verdict);
  const Icon = allowed ? Check : X;
  return (
    <p className="flex items-start gap-1.5 py-1 text-sm text-muted">
      <Icon
        size={14}
        aria-hidden
        className={`mt-0.5 shrink-0 ${allowed ? 'text-pass' : 'text-fail'}`}
      />
      <span className="min-w-0 break-words">
        {decider} {allowed ? 'allowed' : 'denied'} this:{' '}
        <code className="line-clamp-3 [overflow-wrap:anywhere]">
          <VisibleText text={event.args.subject} />
        </code>
        {reason && (
          <>
            {' '}
            — <VisibleText text={reason} />
          </>
        )}
      </span>
    </p>
  );
}

function Countdown({ until }: { until: string }) {
  const now = useNow(250);
  const left = Math.max(0, Math.ceil((Date.parse(until) - now) / 1_000));
  return <p className="text-sm text-muted tabular-nums">Runs in {left} s unless you deny it.</p>;
}
