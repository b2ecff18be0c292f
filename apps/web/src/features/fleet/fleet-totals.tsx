import { isEnded, dollarsText, pluralText, type SessionSummary } from '@belay/protocol';
import { needOf } from './fleet-order';

interface FleetTotalsProps {
  sessions: readonly SessionSummary[];
  now: number;
}

/** The number of sessions running and queued, and their total cost. */
export function FleetTotals({ sessions, now }: FleetTotalsProps) {
  const needs = Map.groupBy(sessions, needOf);
  const many = (need: ReturnType<typeof needOf>) => needs.get(need)?.length ?? 0;
  const today = new Date(now).toDateString();
  const cost = (of: readonly SessionSummary[]) =>
    dollarsText(of.reduce((sum, each) => sum + each.dollars, 0));
  const begun = sessions.filter(({ created }) => new Date(created).toDateString() === today);
  return (
    <p
      aria-label="Totals"
      className="ml-auto text-sm text-faint tabular-nums max-md:hidden"
      title={`${pluralText(sessions.filter(({ state }) => isEnded(state)).length, 'session')} ended; “today” is the cost of the sessions started today`}
    >
      {[
        pluralText(sessions.length, 'session'),
        many('Running') && `${many('Running')} running`,
        many('Queued') && `${many('Queued')} queued`,
        `${cost(begun)} today`,
        `${cost(sessions)} total`,
      ]
        .filter(Boolean)
        .join(' · ')}
    </p>
  );
}
