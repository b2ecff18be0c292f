import { Link } from '@tanstack/react-router';
import { isEnded, type SessionSummary } from '@belay/protocol';
import { MoreHorizontal } from 'lucide-react';
import { IconButton } from '@/components/ui/icon-button';
import { Menu } from '@/components/ui/menu';
import { StateDot } from '@/components/ui/state-dot';
import { ApprovalActions } from '@/features/approvals/approval-actions';
import { QuestionAnswer } from '@/features/approvals/question-answer';
import { cx } from '@/lib/classes';
import { age, dollars } from '@/lib/format';
import { withoutMarks } from '@/lib/without-marks';
import { needsPerson } from './fleet-order';
import { sessionActions } from './session-actions';
import { Sparkline } from './sparkline';

/** Names of the columns; each row also says them to screen readers. */
export function FleetHeader() {
  return (
    <div
      aria-hidden
      className="flex h-7 shrink-0 items-center gap-5 border-b px-4 text-xs text-faint max-md:hidden"
    >
      <span className="w-[100px]">State</span>
      <span className="flex-1">Session and what it does</span>
      <span className="w-18 max-lg:hidden">Two minutes</span>
      <span className="w-24 max-xl:hidden">Model</span>
      <span className="w-16 text-right">Steps</span>
      <span className="w-14 text-right">Cost</span>
      <span className="w-14 text-right">Age</span>
      <span className="w-7" />
    </div>
  );
}

/** One session in one line; its question and the answers below it while it waits. */
export function FleetRow({ session, now }: { session: SessionSummary; now: number }) {
  const waits = needsPerson(session);
  return (
    <article
      aria-label={session.title}
      className={cx('border-b px-4 hover:bg-hover/40', waits && 'bg-amber-soft/60')}
    >
      <div className="grid min-h-14 grid-cols-[104px_minmax(0,1fr)_auto] items-center gap-x-4 max-md:grid-cols-[minmax(0,1fr)_auto] max-md:py-2">
        <StateDot state={session.state} />
        <div className="min-w-0 max-md:order-first max-md:col-span-2">
          <div className="flex min-w-0 items-baseline gap-2">
            <Link
              to="/sessions/$id"
              params={{ id: session.id }}
              className="truncate font-medium hover:underline"
            >
              {session.title}
            </Link>
            {session.tags.map((tag) => (
              <span key={tag} className="rounded-sm bg-sunken px-1 text-xs text-muted">
                {tag}
              </span>
            ))}
          </div>
          <p className="truncate font-mono text-xs text-muted empty:hidden">{doing(session)}</p>
        </div>
        <div className="flex items-center gap-5 text-sm text-muted tabular-nums">
          <span className="max-lg:hidden">
            <Sparkline activity={session.activity} now={now} />
          </span>
          <span className="w-24 truncate font-mono text-xs text-faint max-xl:hidden">
            {session.model.split(/[:/]/).at(-1)}
          </span>
          <span className="w-16 text-right">
            {session.steps}
            {session.budgets.steps !== null && (
              <span className="text-faint">/{session.budgets.steps}</span>
            )}
            <span className="sr-only"> steps</span>
          </span>
          <span className="w-14 text-right">{dollars(session.dollars)}</span>
          <span className="w-14 text-right max-sm:hidden" title={session.created}>
            {age(session.created, isEnded(session.state) ? Date.parse(session.updated) : now)}
          </span>
          <Menu
            trigger={<IconButton label={`More for ${session.title}`} icon={MoreHorizontal} />}
            items={sessionActions(session)}
          />
        </div>
      </div>
      {waits && <Waiting session={session} />}
    </article>
  );
}

function Waiting({ session }: { session: SessionSummary }) {
  return (
    <div className="space-y-2 pb-3 md:pl-30">
      {session.waitingFor.map((request) => (
        <div key={request.id} className="space-y-1.5">
          <p className="text-sm">
            Allow {request.operation === 'egress' ? 'a connection to' : request.operation}{' '}
            <code className="break-all">{request.subject}</code>?
          </p>
          <ApprovalActions session={session.id} request={request} />
        </div>
      ))}
      {session.question !== null && (
        <QuestionAnswer
          session={session.id}
          question={session.question}
          options={session.options}
        />
      )}
    </div>
  );
}

/** While it waits for a person its question is said below. */
function doing(session: SessionSummary): string {
  if (needsPerson(session)) return '';
  if (session.current !== null) return session.current;
  if (session.state === 'running') return 'waits for the model’s reply';
  return withoutMarks(session.reason ?? '');
}
