import {
  AppError,
  eventArgs,
  faultOf,
  type AgentEvent,
  type FactAction,
  type NewEvent,
} from '@belay/protocol';

/**
 * The facts that an agent may write. What a person or the server decides (approve, usage, state, …)
 * can never come out of a sandbox; any other action is a call of an operation.
 */
const agentFacts: ReadonlySet<string> = new Set<FactAction>([
  'say',
  'result',
  'plan',
  'code',
  'browser',
  'terminal',
  'commit',
  'guidance',
  'compact',
  'error',
]);

/** Checks an event from a sandbox; throws `forbidden` for a fact that is not its to write, `invalid_input` for a broken one. */
export function checkAgentEvent(written: AgentEvent): NewEvent {
  const { n: _, ...event } = written;
  if (!Object.hasOwn(eventArgs, event.action)) return { ...event, source: 'agent' };
  if (!agentFacts.has(event.action)) {
    throw new AppError('forbidden', `An agent may not write “${event.action}” into the log.`);
  }
  const args = eventArgs[event.action as FactAction].safeParse(event.args);
  if (!args.success) {
    const fault = faultOf(args.error);
    throw new AppError('invalid_input', `The event “${event.action}” is broken: ${fault}.`);
  }
  return { ...event, source: 'agent', args: args.data };
}
