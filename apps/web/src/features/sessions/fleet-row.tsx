import { memo } from 'react';
import { Link } from '@tanstack/react-router';
import { isEnded, type SessionSummary } from '@belay/protocol';
import { MoreHorizontal } from 'lucide-react';
import { IconButton } from '@/components/ui/icon-button';
import { Menu } from '@/components/ui/menu';
import { StateDot } from '@/components/ui/state-dot';
import { ApprovalActions } from '@/features/approvals/approval-actions';
import { QuestionAnswer } from '@/features/approvals/question-answer';
import { cx } from '@/lib/classes';
import { useNow } from '@/lib/clock';
import { age, dollars, duration, moment } from '@/lib/format';
import { withoutMarks } from '@/lib/without-marks';
import { needOf, needsPerson } from './fleet-order';
import { sessionActions } from './session-actions';
import { Sparkline } from './sparkline';

const columns =
  'grid grid-cols-[16px_104px_minmax(0,1fr)_auto] gap-x-3 max-md:grid-cols-[minmax(0,1fr)_auto]';

interface FleetHeaderProps {
  /** Undefined where nothing can be picked. */
  picked: boolean | undefined;
  onPick(all: boolean): void;
}

/** Names of the columns; each row also says them to screen readers. */
export function FleetHeader({ picked, onPick }: FleetHeaderProps) {
  return (
    <div
      className={cx(
        columns,
        'h-7 shrink-0 items-center border-b px-4 text-xs text-faint max-md:hidden',
      )}
    >
      {picked === undefined ? (
        <span />
      ) : (
        <input
          type="checkbox"
          aria-label="Pick all that are shown"
          checked={picked}
          onChange={(event) => onPick(event.target.checked)}
          className="accent-[var(--amber)]"
        />
      )}
      <span aria-hidden>State</span>
      <span aria-hidden>Session</span>
      <div aria-hidden className="flex items-center gap-5">
        <span className="w-18 max-lg:hidden">Two minutes</span>
        <span className="w-28 max-xl:hidden">Model</span>
        <span className="w-16 text-right">Steps</span>
        <span className="w-14 text-right">Cost</span>
        <span className="w-14 text-right">Age</span>
        <span className="w-7" />
      </div>
    </div>
  );
}

interface FleetRowProps {
  session: SessionSummary;
  /** Undefined where nothing can be picked. */
  picked: boolean | undefined;
  onPick(id: string): void;
}

/** One session in one line; its question and the answers below it while it waits. Drawn again when it changed. */
export const FleetRow = memo(function FleetRow({ session, picked, onPick }: FleetRowProps) {
  const waits = needsPerson(session);
  return (
    <article
      aria-label={session.title}
      className={cx(
        'group border-b px-4 focus-within:bg-hover/60 hover:bg-hover/40',
        waits && 'bg-amber-soft/60',
        picked && 'bg-run-soft/70',
      )}
    >
      <div className={cx(columns, 'items-center max-md:py-2', waits ? 'min-h-10' : 'min-h-14')}>
        {picked === undefined ? (
          <span className="max-md:hidden" />
        ) : (
          <input
            type="checkbox"
            aria-label={`Pick ${session.title}`}
            checked={picked}
            onChange={() => onPick(session.id)}
            className="accent-[var(--amber)] opacity-0 group-hover:opacity-100 checked:opacity-100 focus-visible:opacity-100 max-md:hidden"
          />
        )}
        <StateDot state={session.state} queued={needOf(session) === 'Queued'} />
        <div className="min-w-0 max-md:order-first max-md:col-span-2">
          <div className="flex min-w-0 items-baseline gap-2">
            <Link
              to="/sessions/$id"
              params={{ id: session.id }}
              data-session={session.id}
              title={session.title}
              className="truncate font-medium hover:underline"
            >
              {session.title}
            </Link>
            {session.tags.map((tag) => (
              <span
                key={tag}
                className="max-w-32 shrink-0 truncate rounded-sm bg-sunken px-1 text-xs text-muted"
              >
                {tag}
              </span>
            ))}
          </div>
          <Doing session={session} />
        </div>
        <Figures session={session} readOnly={picked === undefined} />
      </div>
      {waits && <Waiting session={session} />}
    </article>
  );
});

function Figures({ session, readOnly }: { session: SessionSummary; readOnly: boolean }) {
  return (
    <div className="flex items-center gap-5 text-sm text-muted tabular-nums max-sm:gap-3">
      <span className="max-lg:hidden">
        <Sparkline activity={session.activity} />
      </span>
      <span
        className="w-28 truncate font-mono text-xs text-faint max-xl:hidden"
        title={session.model}
      >
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
      <Age session={session} />
      <Menu
        trigger={<IconButton label={`More for ${session.title}`} icon={MoreHorizontal} />}
        items={() => sessionActions(session, readOnly)}
      />
    </div>
  );
}

function Age({ session }: { session: SessionSummary }) {
  const now = useNow(1_000);
  const { seconds, since } = session.wallTime;
  const worked = seconds + (since ? (now - Date.parse(since)) / 1_000 : 0);
  return (
    <span
      className="w-14 text-right"
      title={`Begun ${moment(session.created)}; worked for ${duration(worked)}`}
    >
      {age(session.created, now)}
    </span>
  );
}

function Waiting({ session }: { session: SessionSummary }) {
  return (
    <div className="space-y-2 pb-3 md:pl-36">
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

/** What a machine does is in monospace, what is said in words is not. While it waits for a person its question is said below. */
function Doing({ session }: { session: SessionSummary }) {
  const { state, current, reason } = session;
  if (needsPerson(session)) return null;
  if (current !== null && !isEnded(state))
    return <p className="truncate font-mono text-xs text-muted">{current}</p>;
  const words = state === 'running' ? 'Waits for the model’s reply.' : withoutMarks(reason ?? '');
  return <p className="truncate text-sm leading-4 text-muted empty:hidden">{words}</p>;
}
