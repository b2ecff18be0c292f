import type { Event, EventAction, EventOf, SessionSummary } from '@belay/protocol';

/** Functions for the events of some actions. */
export type EventCases<T> = {
  readonly [A in EventAction]?: (event: Event & EventOf<A>, summary: SessionSummary) => T;
};

/** The result of the case for the event’s action; undefined when there is none. */
export function caseOf<T>(
  cases: EventCases<T>,
  event: Event,
  summary: SessionSummary,
): T | undefined {
  // The agent chooses the action’s name, which may be `constructor`.
  if (!Object.hasOwn(cases, event.action)) return undefined;
  const all = cases as Record<string, (event: Event, summary: SessionSummary) => T>;
  return all[event.action]?.(event, summary);
}
