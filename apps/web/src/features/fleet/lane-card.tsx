import { memo } from 'react';
import { Link } from '@tanstack/react-router';
import { ageText, dollarsText, needsUser, type SessionSummary } from '@belay/protocol';
import { Archive, MoreHorizontal } from 'lucide-react';
import { clsx } from 'clsx';
import { Doing } from '@/components/doing';
import { PullRequestLink } from '@/components/pull-request-link';
import { Button } from '@/components/ui/button';
import { IconButton } from '@/components/ui/icon-button';
import { Menu } from '@/components/ui/menu';
import { StateDot } from '@/components/ui/state-dot';
import { sessionActions } from '@/features/session-controls/session-actions';
import { runControl, sessionControls } from '@/features/session-controls/session-controls';
import { shortModelName } from '@/lib/short-model-name';
import { useNow } from '@/lib/use-now';
import { useReadOnly } from '@/lib/role';
import type { Lane } from './lanes';
import { needOf } from './fleet-order';
import { WaitingQuestions } from '@/components/approvals/waiting-questions';

interface LaneCardProps {
  session: SessionSummary;
  lane: Lane;
}

/** One session on the board; memoized. */
export const LaneCard = memo(function LaneCard({ session, lane }: LaneCardProps) {
  const readOnly = useReadOnly();
  const now = useNow(5_000);
  const { id, title, state, comparison } = session;
  const waits = needsUser(session);
  return (
    <article
      aria-label={title}
      className={clsx(
        'flex flex-col gap-1.5 rounded-md border bg-panel p-2.5 focus-within:border-line-strong',
        waits && 'border-amber-fill bg-amber-soft/60',
      )}
    >
      <div className="flex items-start gap-1">
        <Link
          to="/sessions/$id"
          params={{ id }}
          data-session={id}
          className="line-clamp-2 min-w-0 flex-1 font-medium break-words hover:underline"
        >
          {title}
        </Link>
        <Menu
          trigger={
            <IconButton label={`More for ${title}`} icon={MoreHorizontal} className="size-6" />
          }
          items={() => sessionActions(session, readOnly)}
        />
      </div>
      {waits ? (
        <WaitingQuestions session={session} />
      ) : (
        <Doing session={session} className="line-clamp-2" />
      )}
      <div className="flex items-center gap-x-3 text-xs whitespace-nowrap text-muted tabular-nums">
        <StateDot state={state} queued={needOf(session) === 'Queued'} />
        <span className="min-w-0 truncate font-mono text-faint" title={session.model}>
          {shortModelName(session.model)}
        </span>
        <span>{dollarsText(session.dollars)}</span>
        <span title="Time since it started">{ageText(session.created, now)}</span>
      </div>
      <div className="flex items-center gap-2 empty:hidden">
        {lane === 'Review' && !readOnly && (
          <Button
            small
            aria-label={`Archive ${title}`}
            onClick={() => runControl(sessionControls.archive, session)}
          >
            <Archive size={13} aria-hidden /> Done
          </Button>
        )}
        <PullRequestLink session={session} />
        {comparison !== null && (
          <Link to="/compare/$id" params={{ id: comparison }} className="text-xs underline">
            Compare
          </Link>
        )}
      </div>
    </article>
  );
});
