import { Check, ShieldQuestion, X } from 'lucide-react';
import { isEnded, isFact, type Event, type Fact } from '@belay/protocol';
import { useNow } from '@/lib/clock';
import { useSummary } from '../sessions/queries';
import { useIsPast, useSessionId, useView } from '../sessions/session-context';
import { ApprovalActions } from './approval-actions';

/** A call that waits for a person, or what was decided. */
export function ApprovalEntry({ event }: { event: Event & Fact<'approval'> }) {
  const id = useSessionId();
  const summary = useSummary(id);
  const past = useIsPast();
  const verdict = useView((view) => view.verdicts.get(event.args.id));
  const result = useView((view) => view.results.get(event.args.id));
  if (verdict) return <Decided event={event} verdict={verdict} />;
  const lines = event.args.subject.split('\n').length;
  const over = past || result !== undefined || !summary || isEnded(summary.state);
  return (
    <div className="py-2">
      <div
        className={`space-y-2 rounded-lg border px-3 py-2 ${over ? '' : 'border-amber-fill bg-amber-soft'}`}
      >
        <p className="flex items-start gap-1.5 text-sm font-medium">
          <ShieldQuestion size={15} aria-hidden className="mt-0.5 shrink-0" />
          <span className="flex-1">{question(event)}</span>
          {lines > 1 && <span className="font-normal text-muted">{lines} lines</span>}
        </p>
        <pre
          tabIndex={0}
          aria-label="What it would do"
          className="max-h-[40vh] overflow-auto text-xs [overflow-wrap:anywhere] whitespace-pre-wrap"
        >
          {event.args.subject}
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

function Decided({ event, verdict }: { event: Event & Fact<'approval'>; verdict: Event }) {
  const allowed = verdict.action === 'approve';
  const Icon = allowed ? Check : X;
  const rule = isFact(verdict, 'approve') || isFact(verdict, 'reject') ? verdict.args.rule : null;
  const reason = isFact(verdict, 'reject') ? verdict.args.reason : '';
  return (
    <p className="flex items-start gap-1.5 py-1 text-sm text-muted">
      <Icon
        size={14}
        aria-hidden
        className={`mt-0.5 shrink-0 ${allowed ? 'text-pass' : 'text-fail'}`}
      />
      <span className="min-w-0 break-words">
        {allowed ? 'Allowed' : 'Not allowed'} by{' '}
        {rule ? 'a rule' : verdict.source === 'user' ? 'you' : 'the policy'}:{' '}
        <code className="line-clamp-3 [overflow-wrap:anywhere]">{event.args.subject}</code>
        {reason && <> — {reason}</>}
      </span>
    </p>
  );
}

function Countdown({ until }: { until: string }) {
  const now = useNow(250);
  const left = Math.max(0, Math.ceil((Date.parse(until) - now) / 1_000));
  return (
    <p className="text-sm text-muted tabular-nums">Runs by itself in {left} s unless you say no.</p>
  );
}

const question = ({ args }: Fact<'approval'>): string =>
  args.operation === 'egress' ? 'Allow this connection?' : `Allow ${args.operation}?`;
