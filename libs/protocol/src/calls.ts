import { startedAction } from './actions.js';
import { AppError, faultOf } from './errors.js';
import type { FileNews } from './file-version.js';
import { isEvent, type Event, type EventArgs } from './events.js';
import { actionNamed, unknownAction } from './action-operation.js';
import { mcpOperation, mcpToolNamed } from './mcp-operation.js';
import type { Operation } from './operation.js';
import {
  operationNamed,
  operations,
  type OperationInput,
  type OperationName,
  type OperationOutput,
} from './operations/index.js';
import { runResult, type RunResult } from './operations/terminal.js';

/**
 * What a call’s action is a call of: an operation, or a tool of an MCP server or an installed action, of which the name
 * alone is known.
 */
export function calledOperation(action: string): Operation | undefined {
  const tool = mcpToolNamed(action);
  if (tool) return mcpOperation({ ...tool, description: '' });
  const installed = actionNamed(action);
  return installed === undefined ? operationNamed(action) : unknownAction(installed);
}

/** Whether an action is a call: of an operation, a tool of an MCP server or an installed action. */
export const isCall = (action: string): boolean => calledOperation(action) !== undefined;

/** A call of this operation, its args typed. */
export type CallOf<N extends OperationName> = Omit<Event, 'action' | 'args'> & {
  action: N;
  args: OperationInput<N>;
};

/** The event as a call of this operation, its args parsed; undefined when it is something else, or they are not valid. */
export function callOf<N extends OperationName>(event: Event, name: N): CallOf<N> | undefined {
  if (event.action !== name) return undefined;
  const parsed = operations[name].input.safeParse(event.args);
  return parsed.success
    ? { ...event, action: name, args: parsed.data as OperationInput<N> }
    : undefined;
}

type Outcome = Pick<EventArgs<'result'>, 'operation' | 'ok' | 'output'>;

/** The parsed output of a result of this operation; undefined for another one’s, an error, or what is not valid. */
export function outputOf<N extends OperationName>(
  name: N,
  { operation, ok, output }: Outcome,
): OperationOutput<N> | undefined {
  if (!ok || operation !== name) return undefined;
  return operations[name].output.safeParse(output).data as OperationOutput<N> | undefined;
}

/** The output of an operation as it enters from elsewhere; throws `internal` when it does not match the schema. */
export const parseOutput = <N extends OperationName>(name: N, output: unknown) =>
  parseOutputOf(operations[name], output) as OperationOutput<N>;

export function parseOutputOf({ name, output: schema }: Operation, output: unknown): unknown {
  const parsed = schema.safeParse(output);
  if (parsed.success) return parsed.data;
  throw new AppError('internal', `The output of ${name} is broken: ${faultOf(parsed.error)}.`);
}

/** The parsed output of a call of this operation, from its result event; undefined for any other event. */
export function resultOf<N extends OperationName>(
  event: Event,
  name: N,
): OperationOutput<N> | undefined {
  return isEvent(event, 'result') ? outputOf(name, event.args) : undefined;
}

/** The outcome of a command, from the result of any terminal operation; undefined for all other results. */
export function runResultOf({ operation, ok, output }: Outcome): RunResult | undefined {
  if (!ok || operationNamed(operation)?.output !== runResult) return undefined;
  return runResult.safeParse(output).data;
}

/** Whether a result says only that its call of an action goes on in the background. */
export const isStarted = ({ operation, ok, output }: Outcome): boolean =>
  ok && actionNamed(operation) !== undefined && startedAction.safeParse(output).success;

/** Whether a call waits for or polls something in progress: see `polls` of operations. Any name and input are valid. */
export const isPolling = (name: string, input: unknown): boolean =>
  ask(name, input, (operation, valid) => operation.polls(valid)) ?? false;

/**
 * What rules of approval match of a call: see `subject` of operations. Reads the input by the schema, for what is decided
 * must be what runs: an input that is not valid is its own subject, whole.
 */
export const subjectOf = (name: string, input: unknown, page: string | null = null): string =>
  ask(name, input, (operation, valid) => operation.subject(valid, { page })) ?? whole(input);

/** What a call is about, for people: see `summary` of operations. */
export const summaryOf = (name: string, input: unknown, page: string | null = null): string =>
  ask(name, input, (operation, valid) => operation.summary(valid, { page })) ?? whole(input);

/** A call in words and in one line, such as `terminal.run npm test`. The input is a valid one. */
export function describeCall(
  operation: Pick<Operation, 'name' | 'summary'>,
  input: unknown,
  page: string | null = null,
): string {
  return oneLine(`${operation.name} ${operation.summary(input, { page })}`);
}

/** Paths of the workspace that a call with a valid input is about, and with an output, valid or not, that it touched. */
export function pathsOf(operation: Operation, input: unknown, output?: unknown): readonly string[] {
  return operation.paths(input, operation.output.safeParse(output).data);
}

/** What an output, valid or not, tells of whole files. */
export function fileNewsOf({ operation: name, ok, output }: Outcome): readonly FileNews[] {
  const operation = ok ? operationNamed(name) : undefined;
  const parsed = operation?.output.safeParse(output);
  return operation && parsed?.success ? operation.files(parsed.data) : [];
}

/** Operations that a model is offered from an output on, valid or not: see `found` of operations. */
export function foundIn({ operation: name, ok, output }: Outcome): readonly string[] {
  const operation = ok ? operationNamed(name) : undefined;
  const parsed = operation?.output.safeParse(output);
  return operation && parsed?.success ? operation.found(parsed.data) : [];
}

/** What a user’s call did, for the model: see `told` of operations. Any call of the log and its outcome are valid. */
export function toldOf(call: Pick<Event, 'message'>, { operation: name, ok, output }: Outcome) {
  const operation = ok ? operationNamed(name) : undefined;
  const parsed = operation?.output.safeParse(output);
  const told = operation && parsed?.success ? operation.told(parsed.data) : null;
  return told ?? call.message;
}

/** Pictures in an output, valid or not, that a model is shown. */
export function imagesOf(operation: Operation, output: unknown): readonly string[] {
  const parsed = operation.output.safeParse(output);
  return parsed.success ? operation.images(parsed.data) : [];
}

/** Words in one line of 200 characters at most. */
export function oneLine(words: string): string {
  const line = words.replaceAll(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

const longest = 200;

/** Asks the definition about an input once it is valid; undefined when there is no such operation, or it is not. */
function ask<T>(
  name: string,
  input: unknown,
  question: (operation: Operation, valid: unknown) => T,
): T | undefined {
  const operation = calledOperation(name);
  const parsed = operation?.input.safeParse(input ?? {});
  return operation && parsed?.success ? question(operation, parsed.data) : undefined;
}

const whole = (input: unknown): string => JSON.stringify(input ?? {});

/**
 * The fields of a result; where the operation's definition says that one holds numbered lines, each line begins with its
 * number and a tab. What is cut from it afterwards leaves the numbers of the other lines true.
 */
export function withLineNumbers(name: string, output: Fields): Fields {
  const operation = operationNamed(name);
  const parsed = operation?.output.safeParse(output);
  const numbered = operation && parsed?.success ? operation.numbered(parsed.data) : null;
  if (!numbered) return output;
  const { field, from } = numbered;
  const lines = String(output[field]).replace(/\n$/, '').split('\n');
  return {
    ...output,
    [field]: lines.map((line, index) => `${from + index}\t${line}`).join('\n'),
  };
}

type Fields = Record<string, unknown>;
