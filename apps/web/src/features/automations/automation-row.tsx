import { Link } from '@tanstack/react-router';
import { dateTimeText, dollarsText, type AutomationInfo } from '@belay/protocol';
import { AutomationState, whyColours } from './automation-state';
import { RunMarks } from './run-mark';
import { triggerWords } from './trigger-words';

/** One automation in the list. */
export function AutomationRow({ automation }: { automation: AutomationInfo }) {
  const { name, state, why, definition, latest, waiting, dollarsThisMonth, nextAt } = automation;
  const details = [
    nextAt !== null && state === 'on' && `next ${dateTimeText(nextAt)}`,
    waiting > 0 && `${waiting} queued`,
    `${dollarsText(dollarsThisMonth)} of ${dollarsText(definition.lane.dollarsPerMonth)} this month`,
  ].filter(Boolean);
  return (
    <li>
      <Link
        to="/automations/$name"
        params={{ name }}
        className="flex items-start justify-between gap-4 px-4 py-3 hover:bg-hover"
      >
        <span className="min-w-0">
          <span className="block font-medium break-words sm:truncate">{name}</span>
          <span className="block text-sm break-words text-muted sm:truncate">
            {triggerWords(definition.on)}
          </span>
          {why !== null && (
            <span className={`block text-sm break-words ${whyColours[state]}`}>{why}</span>
          )}
          <span className="block text-xs text-faint tabular-nums">{details.join(' · ')}</span>
        </span>
        <span className="flex shrink-0 flex-col items-end gap-1.5">
          <AutomationState state={state} />
          <RunMarks runs={latest} />
        </span>
      </Link>
    </li>
  );
}
