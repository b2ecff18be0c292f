import {
  AppError,
  mcpOperation,
  operations,
  type Audience,
  type Handlers,
  type Operation,
  type SessionSettings,
} from '@belay/protocol';
import type { CallContext } from './call-context.js';

/** These two are the loop's own: they wait for a person, and end the work. */
export type LoopOperation = 'ask' | 'finish';

/** A function for each operation that a room of the agent serves. */
export type Rooms = Omit<Handlers<typeof operations, CallContext>, LoopOperation>;

/** An operation and its input, checked. */
export interface Checked {
  operation: Operation;
  input: Record<string, unknown>;
}

/** The operations that this audience may call. */
export const operationsFor = (audience: Audience): readonly Operation[] =>
  Object.values(operations).filter((operation) => operation.audience.includes(audience));

/** The operations, and the tools of MCP servers, that the model of a session may call. */
export const offeredIn = ({ mcp }: Pick<SessionSettings, 'mcp'>): readonly Operation[] => [
  ...operationsFor('model'),
  ...mcp.map(mcpOperation),
];

/** Checks a call from outside; throws one sentence (not_found, invalid_input) that says what to do. */
export function checkCall(name: string, input: unknown, offered: readonly Operation[]): Checked {
  const operation = offered.find((one) => one.name === name);
  if (!operation) {
    throw new AppError('not_found', `There is no operation ${name}; ${nearest(name, offered)}.`);
  }
  const parsed = operation.input.safeParse(input ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join('.') || 'the input';
    throw new AppError(
      'invalid_input',
      `The input of ${name} is not valid: ${field}: ${issue?.message ?? 'wrong'}. Nothing was run; call again with a valid input.`,
    );
  }
  return { operation, input: parsed.data as Record<string, unknown> };
}

/** Runs a checked call in its room; throws what the room throws. */
export async function perform(
  rooms: Rooms,
  { operation, input }: Checked,
  context: CallContext,
): Promise<unknown> {
  const handler = rooms[operation.name as keyof Rooms] as
    ((input: unknown, context: CallContext) => Promise<unknown>) | undefined;
  if (!handler) throw new AppError('not_found', `${operation.name} is not served here.`);
  context.signal.throwIfAborted();
  return handler(input, context);
}

function nearest(name: string, offered: readonly Operation[]): string {
  const group = name.split(/[._]/)[0] ?? '';
  const names = offered.map((operation) => operation.name);
  const near = names.filter((known) => known.startsWith(`${group}.`));
  return `there are ${(near.length > 0 ? near : names).join(', ')}`;
}
