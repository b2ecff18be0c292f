import {
  AppError,
  actionOperation,
  isSearched,
  mcpOperation,
  operations,
  type Audience,
  type OfferingSetting,
  type Operation,
  type ServerService,
  type SessionSettings,
} from '@belay/protocol';
import { z } from 'zod';
import { nearestOperations } from './nearest-operations.js';

/** An operation with its validated input. */
export interface CheckedCall {
  operation: Operation;
  input: Record<string, unknown>;
  /** The fields that the user changed before allowing it. */
  edited?: Record<string, string>;
}

/** The operations that the user may call in a session. */
export const callableIn = ({
  actions,
  mcp,
}: Pick<SessionSettings, 'actions' | 'mcp'>): readonly Operation[] => [
  ...operationsFor('user'),
  ...mcp.map(mcpOperation),
  ...actions.map(actionOperation),
];

/** The operations that this audience may call. */
export const operationsFor = (audience: Audience): readonly Operation[] =>
  Object.values(operations).filter((operation) => operation.audience.includes(audience));

/**
 * The operations, MCP tools and installed actions that a session’s model may call; the search is included only if
 * there are too many to list.
 */
export function offeredIn(
  settings: Pick<SessionSettings, 'mcp' | 'actions' | 'egress' | OfferingSetting>,
  services: readonly ServerService[],
): readonly Operation[] {
  const { mcp, actions, egress } = settings;
  const all = [
    ...operationsFor('model').filter(
      ({ needs, setting }) =>
        (needs === null || (egress.profile !== 'none' && services.includes(needs))) &&
        (setting === null || settings[setting]),
    ),
    ...mcp.map(mcpOperation),
    ...actions.map(actionOperation),
  ];
  return isSearched(all) ? all : all.filter(({ search }) => search !== 'finder');
}

/** Validates a call from outside; throws one sentence (not_found, invalid_input) with a remedy. */
export function checkCall(
  name: string,
  input: unknown,
  offered: readonly Operation[],
): CheckedCall {
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
      `The input of ${name} is not valid: ${field}: ${issue?.message ?? 'wrong'}. Nothing was run; call again with valid input.`,
    );
  }
  return { operation, input: fields.parse(parsed.data) };
}

/** Every operation takes an object as its input. */
const fields = z.record(z.string(), z.unknown());

function nearest(name: string, offered: readonly Operation[]): string {
  const [first, ...more] = nearestOperations(name, offered);
  const last = more.pop();
  if (first === undefined) return 'call one of those that you are offered, such as terminal.run';
  return last === undefined
    ? `the nearest is ${first}`
    : `the nearest are ${[first, ...more].join(', ')} and ${last}`;
}
