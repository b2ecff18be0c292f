import {
  AppError,
  eventArgs,
  eventBatch,
  eventBounds,
  faultOf,
  isCall,
  jsonFault,
  type AgentEvent,
  type EventAction,
  type NewEvent,
} from '@belay/protocol';

/**
 * The events that an agent may write. Events of the user or the server (approve, usage, state, …) are
 * refused from a sandbox; any other action is a call of an operation.
 */
const agentActions: ReadonlySet<string> = new Set<EventAction>([
  'say',
  'result',
  'plan',
  'code',
  'browser',
  'terminal',
  'exit',
  'commit',
  'guidance',
  'compact',
  'end',
  'renewed',
  'turn',
  'attention',
  'error',
]);

const batchBounds = {
  characters: eventBatch.characters,
  depth: eventBounds.depth + 1,
  values: 4 * eventBounds.values,
};

/** How far a sandbox’s clock may be ahead. */
const clockToleranceMs = 60_000;

/**
 * Checks a batch of events from a sandbox. Throws `forbidden` for an event that agents may not write, `invalid_input`
 * for a malformed one and `too_large` for one beyond the limits. The first error refuses the whole batch.
 */
export function checkAgentEvents(written: readonly AgentEvent[]): { n: number; event: NewEvent }[] {
  const now = Date.now();
  const checked = written.map((event) => ({ n: event.n, event: checkAgentEvent(event, now) }));
  const args = written.map((event) => event.args);
  if (written.length > 1 && jsonFault(args, batchBounds) !== undefined) {
    throw new AppError('too_large', 'There are too many events for one call. Send fewer at once.');
  }
  return checked;
}

function checkAgentEvent(written: AgentEvent, now: number): NewEvent {
  const { n: _, ...event } = written;
  const fault = jsonFault(event.args);
  if (fault !== undefined) {
    throw new AppError(
      'too_large',
      `The event “${event.action}” ${fault}. Keep large content in files.`,
    );
  }
  const time = timeOf(event.time, now);
  if (!Object.hasOwn(eventArgs, event.action)) return { ...event, time, source: 'agent' };
  if (!agentActions.has(event.action)) {
    throw new AppError('forbidden', `An agent may not write “${event.action}” into the log.`);
  }
  const args = eventArgs[event.action as EventAction].safeParse(event.args);
  if (!args.success) {
    const fault = faultOf(args.error);
    throw new AppError('invalid_input', `The event “${event.action}” is not valid: ${fault}.`);
  }
  return { ...event, time, source: 'agent', args: args.data };
}

/** Activity and order depend on event times, so a sandbox may not write events from the future. */
const timeOf = (time: string | undefined, now: number): string =>
  time !== undefined && Date.parse(time) <= now + clockToleranceMs
    ? time
    : new Date(now).toISOString();

/** Actions that begin something. An ended session accepts only the ends of earlier calls, and the user’s calls. */
const newWork: ReadonlySet<string> = new Set<EventAction>(['say', 'plan', 'compact']);

/** Throws `invalid_input` for new work of the agent; its other events are stored. */
export function refuseNewWork(events: readonly NewEvent[]): void {
  const begun = events.find(
    ({ action, source }) => source === 'agent' && (newWork.has(action) || isCall(action)),
  );
  if (!begun) return;
  throw new AppError(
    'invalid_input',
    `The session has ended, so “${begun.action}” is not stored. Restart it to continue.`,
  );
}
