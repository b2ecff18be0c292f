import {
  wallSeconds,
  ageText,
  dollarsText,
  durationText,
  dateTimeText,
  type SessionSummary,
} from '@belay/protocol';
import { MoreHorizontal } from 'lucide-react';
import { IconButton } from '@/components/ui/icon-button';
import { Menu } from '@/components/ui/menu';
import { sessionActions } from '@/features/session-controls/session-actions';
import { shortModelName } from '@/lib/short-model-name';
import { useNow } from '@/lib/use-now';
import { Sparkline } from './sparkline';

/** The activity, model, steps, cost, age and menu of a session. */
export function FleetFigures({
  session,
  readOnly,
}: {
  session: SessionSummary;
  readOnly: boolean;
}) {
  return (
    <div className="flex items-center gap-5 text-sm text-muted tabular-nums max-sm:gap-3">
      <span className="max-lg:hidden">
        <Sparkline activity={session.activity} />
      </span>
      <span
        className="w-28 truncate font-mono text-xs text-faint max-xl:hidden"
        title={session.model}
      >
        {shortModelName(session.model)}
      </span>
      <span className="w-16 text-right">
        {session.steps}
        {session.budgets.steps !== null && (
          <span className="text-faint">/{session.budgets.steps}</span>
        )}
        <span className="sr-only"> steps</span>
      </span>
      <span className="w-14 text-right">{dollarsText(session.dollars)}</span>
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
  const worked = wallSeconds(session.workTime, now);
  return (
    <span
      className="w-14 text-right"
      title={`Started ${dateTimeText(session.created)}; active for ${durationText(worked)}`}
    >
      {ageText(session.created, now)}
    </span>
  );
}
