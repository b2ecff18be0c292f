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
 * Checks what a sandbox sends at once. Throws `forbidden` for an event that agents may not write, `invalid_input` for a
 * malformed one and `too_large` for one beyond the bounds: the first fault refuses the call, and nothing is stored.
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

/** Activity and order are counted by times, so a sandbox may not write of the future. */
const timeOf = (time: string | undefined, now: number): string =>
  time !== undefined && Date.parse(time) <= now + clockToleranceMs
    ? time
    : new Date(now).toISOString();

/** Begins something, in a session that has ended: only what it began before, and the user’s calls, may still end. */
const newWork: ReadonlySet<string> = new Set<EventAction>(['say', 'plan', 'compact']);

/** Throws `invalid_input` for new work of the agent; what else it still writes is stored. */
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
