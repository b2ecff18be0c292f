import type { Event, EventAction, EventOf, SessionSummary } from '@belay/protocol';

/** Functions for the events of some actions. */
export type EventCases<T, Context = SessionSummary> = {
  readonly [A in EventAction]?: (event: Event & EventOf<A>, context: Context) => T;
};

/** The result of the case for the event’s action; undefined when there is none. */
export function caseOf<T, Context>(
  cases: EventCases<T, Context>,
  event: Event,
  context: Context,
): T | undefined {
  // The agent chooses the action’s name, which may be `constructor`.
  if (!Object.hasOwn(cases, event.action)) return undefined;
  const all = cases as Record<string, (event: Event, context: Context) => T>;
  return all[event.action]?.(event, context);
}
