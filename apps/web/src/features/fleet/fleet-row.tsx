import { memo } from 'react';
import { Link, useNavigate } from '@tanstack/react-router';
import { mountWords, needsUser, type SessionSummary } from '@belay/protocol';
import { clsx } from 'clsx';
import { HardDrive } from 'lucide-react';
import { Doing } from '@/components/doing';
import { PullRequestLink } from '@/components/pull-request-link';
import { AgentLabel } from '@/components/ui/agent-label';
import { MachineLabel } from '@/components/ui/machine-label';
import { StateDot } from '@/components/ui/state-dot';
import { SessionTag } from './session-tag';
import { FleetFigures } from './fleet-figures';
import { columns } from './fleet-header';
import { needOf } from './fleet-order';
import { WaitingQuestions } from '@/components/approvals/waiting-questions';

interface FleetRowProps {
  session: SessionSummary;
  /** Undefined if sessions cannot be selected. */
  picked: boolean | undefined;
  /** Whether it is nested below the row of its comparison. */
  within: boolean;
  onPick(id: string): void;
}

/** One session as a row, with its questions and their answers below while it waits; memoized. */
export const FleetRow = memo(function FleetRow({ session, picked, within, onPick }: FleetRowProps) {
  const waits = needsUser(session);
  const navigate = useNavigate();
  return (
    <article
      aria-label={session.title}
      className={clsx(
        'group border-b px-4 focus-within:bg-hover/60 hover:bg-hover/40',
        within && 'pl-8 max-md:pl-6',
        waits && 'bg-amber-soft/60',
        picked && 'bg-run-soft/70',
      )}
    >
      {/* A click anywhere on the row opens the session, except on interactive elements. */}
      <div
        className={clsx(
          columns,
          'cursor-pointer items-center max-md:py-2',
          waits ? 'min-h-10' : 'min-h-14',
        )}
        onClick={({ target, currentTarget }) => {
          if (!(target instanceof Element)) return;
          // Menus are rendered in a portal, so their clicks bubble here from outside the row.
          const own = target.closest('a, button, input') || !currentTarget.contains(target);
          if (!own && getSelection()?.isCollapsed !== false)
            void navigate({ to: '/sessions/$id', params: { id: session.id } });
        }}
      >
        {picked === undefined ? (
          <span className="max-md:hidden" />
        ) : (
          <input
            type="checkbox"
            aria-label={`Select ${session.title}`}
            checked={picked}
            onChange={() => onPick(session.id)}
            className="accent-solid opacity-0 group-hover:opacity-100 checked:opacity-100 focus-visible:opacity-100 max-md:hidden"
          />
        )}
        <StateDot state={session.state} queued={needOf(session) === 'Queued'} />
        <div className="min-w-0 max-md:order-first max-md:col-span-2">
          <NameLine session={session} within={within} />
          {!waits && <Doing session={session} className="truncate leading-4" />}
        </div>
        <FleetFigures session={session} readOnly={picked === undefined} />
      </div>
      {waits && (
        <div className="pb-3 md:pl-36">
          <WaitingQuestions session={session} />
        </div>
      )}
    </article>
  );
});

/** The title, with labels that distinguish the session from others. */
function NameLine({ session, within }: Pick<FleetRowProps, 'session' | 'within'>) {
  const { id, title, model, agent, machine, mounts, tags } = session;
  return (
    <div className="flex min-w-0 items-baseline gap-2">
      <Link
        to="/sessions/$id"
        params={{ id: id }}
        data-session={id}
        title={title}
        className="truncate font-medium hover:underline"
      >
        {title}
      </Link>
      {within && <span className="truncate font-mono text-xs text-muted">{model}</span>}
      {agent && (
        <span className="shrink-0 text-xs text-muted">
          <AgentLabel agent={agent} />
        </span>
      )}
      {machine && (
        <span className="max-w-48 shrink-0 truncate text-xs text-muted max-md:max-w-32">
          <MachineLabel machine={machine} />
        </span>
      )}
      {mounts.length > 0 && (
        <span
          role="img"
          aria-label="Has host folders"
          title={mounts.map(mountWords).join('\n')}
          className={clsx(
            'shrink-0 self-center',
            mounts.some(({ readOnly }) => !readOnly) ? 'text-amber' : 'text-muted',
          )}
        >
          <HardDrive size={12} aria-hidden />
        </span>
      )}
      <PullRequestLink session={session} className="self-center" />
      {tags.map((tag) => (
        <SessionTag key={tag} tag={tag} />
      ))}
    </div>
  );
}
