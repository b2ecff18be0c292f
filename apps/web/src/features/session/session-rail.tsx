import { useMemo } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isEnded, needsUser, type SessionSummary } from '@belay/protocol';
import { clsx } from 'clsx';
import { PanelLeftClose, PanelLeftOpen } from 'lucide-react';
import { IconButton } from '@/components/ui/icon-button';
import { useSessionId } from '@/features/session-log/session-context';
import { sessionsQuery } from '@/lib/summaries';
import { usePreferences } from '@/lib/preferences';
import { recorded } from '@/lib/server';

/** How many ended sessions are listed, newest first. */
const mostEnded = 10;

/** Links for switching between sessions. Those that wait for the user come first, with a badge. */
export function SessionRail() {
  const open = usePreferences((state) => state.rail);
  const set = usePreferences((state) => state.set);
  const { data = [] } = useQuery(sessionsQuery);
  const own = useSessionId();
  const sessions = useMemo(() => railOrder(data, own), [data, own]);
  if (recorded || sessions.length < 2) return null;
  return (
    <nav
      aria-label="Sessions"
      className={clsx(
        'flex shrink-0 flex-col border-r bg-panel max-lg:hidden',
        open ? 'w-52' : 'w-9',
      )}
    >
      <div
        className={clsx(
          'flex h-8 shrink-0 items-center border-b px-1',
          open ? 'justify-between' : 'justify-center',
        )}
      >
        {open && <span className="px-2 text-xs font-medium text-muted">Sessions</span>}
        <IconButton
          label={open ? 'Hide sessions' : 'Show sessions'}
          icon={open ? PanelLeftClose : PanelLeftOpen}
          className="size-6"
          onClick={() => set({ rail: !open })}
        />
      </div>
      <ul className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto py-1 [scrollbar-width:none]">
        {sessions.map((session) => (
          <RailItem
            key={session.id}
            session={session}
            isShown={session.id === own}
            isNamed={open}
          />
        ))}
      </ul>
    </nav>
  );
}

const dots: Partial<Record<SessionSummary['state'], string>> = {
  running: 'bg-run',
  finished: 'bg-pass',
  failed: 'bg-fail',
  limited: 'bg-fail',
};

interface RailItemProps {
  session: SessionSummary;
  isShown: boolean;
  /** Whether the title is shown beside the state. */
  isNamed: boolean;
}

function RailItem({ session, isShown, isNamed }: RailItemProps) {
  const { id, title, state } = session;
  const waits = needsUser(session);
  const words = waits ? 'waiting for you' : state;
  return (
    <li>
      <Link
        to="/sessions/$id"
        params={{ id }}
        aria-current={isShown ? 'page' : undefined}
        aria-label={`${title}, ${words}`}
        title={`${title} (${words})`}
        className={clsx(
          'flex h-7 items-center gap-2 text-sm hover:bg-hover',
          isNamed ? 'px-3' : 'justify-center',
          isShown && 'bg-hover font-medium',
        )}
      >
        {waits ? (
          <span
            aria-hidden
            className="flex size-4 shrink-0 items-center justify-center rounded-full bg-amber-fill text-xs font-semibold text-on-amber"
          >
            !
          </span>
        ) : (
          <span aria-hidden className="flex size-4 shrink-0 items-center justify-center">
            <span className={clsx('size-2 rounded-full', dots[state] ?? 'border border-faint')} />
          </span>
        )}
        {isNamed && (
          <span
            className={clsx('min-w-0 flex-1 truncate', isEnded(state) && !isShown && 'text-muted')}
          >
            {title}
          </span>
        )}
      </Link>
    </li>
  );
}

/**
 * Sessions that wait for the user, longest wait first, then those at work, then the newest ended
 * ones. The current session is always included.
 */
function railOrder(sessions: readonly SessionSummary[], own: string): SessionSummary[] {
  const shown = sessions.filter(({ id, archived }) => !archived || id === own);
  const newest = shown.toSorted((a, b) => Date.parse(b.created) - Date.parse(a.created));
  const waiting = newest
    .filter(needsUser)
    .toSorted((a, b) => Date.parse(a.updated) - Date.parse(b.updated));
  const working = newest.filter((each) => !needsUser(each) && !isEnded(each.state));
  const ended = newest.filter(({ state }) => isEnded(state));
  const kept = ended.filter(({ id }, index) => index < mostEnded || id === own);
  return [...waiting, ...working, ...kept];
}
