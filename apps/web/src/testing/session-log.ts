import {
  AppError,
  describeCall,
  event,
  newEvent,
  operations,
  sessionSummary,
  type Event,
  type NewEvent,
  type OperationName,
  type OperationOutput,
  type OperationRequest,
  type SessionSummary,
} from '@belay/protocol';

export const time = '2026-01-01T00:00:00Z';

/** Events as the server stores them: numbered and parsed by the schema. */
export const logOf = (...events: NewEvent[]): Event[] =>
  events.map((each, index) => event.parse({ time, ...each, seq: index + 1 }));

/**
 * A call, by the agent unless stated otherwise, with its input parsed by the operation’s schema.
 */
export function call<N extends OperationName>(
  name: N,
  input: OperationRequest<N>,
  { id = 'call', source = 'agent' }: Pick<Partial<NewEvent>, 'id' | 'source'> = {},
): NewEvent {
  const args = operations[name].input.parse(input) as Record<string, unknown>;
  return { source, action: name, args, message: describeCall(operations[name], args), id };
}

/** The result of a successful `call` with the default id. */
export const succeeded = <N extends OperationName>(
  operation: N,
  output: OperationOutput<N>,
): NewEvent => result({ operation, ok: true, output });

export const failedWith = (operation: OperationName, message: string): NewEvent =>
  result({ operation, ok: false, output: new AppError('tool_failed', message).toJSON() });

/** A result whose output need not match the operation’s schema. */
export const result = (args: { operation: string; ok: boolean; output: unknown }): NewEvent =>
  newEvent('agent', 'result', { args: { ...args, seconds: 1 }, message: 'Result', id: 'call' });

/** The summary of session `s`, with changes. */
export const summaryWith = (part: Partial<SessionSummary> = {}): SessionSummary =>
  sessionSummary.parse({
    id: 's',
    title: 'Fix it',
    task: 'Fix it',
    model: 'scripted:x',
    image: null,
    sandbox: 'hardened',
    state: 'running',
    reason: null,
    created: time,
    updated: time,
    lastSeq: 1,
    steps: 0,
    tokens: 0,
    dollars: 0,
    contextTokens: 0,
    contextWindow: null,
    budgets: {},
    approvals: 'ask',
    current: null,
    waitingFor: [],
    question: null,
    attention: null,
    plan: null,
    forkedFrom: null,
    tags: [],
    archived: false,
    ...part,
  });
