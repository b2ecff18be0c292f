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
import { toolNamed, toolOperation } from './tool-operation.js';

/**
 * The operation that an action calls; for a tool of an MCP server or of an agent’s program, or an installed action, only
 * its name is known.
 */
export function calledOperation(action: string): Operation | undefined {
  const tool = mcpToolNamed(action);
  if (tool) return mcpOperation({ ...tool, description: '' });
  const own = toolNamed(action);
  if (own) return toolOperation(own);
  const installed = actionNamed(action);
  return installed === undefined ? operationNamed(action) : unknownAction(installed);
}

/** Whether an action is a call: of an operation, a tool or an installed action. */
export const isCall = (action: string): boolean => calledOperation(action) !== undefined;

/** A call of this operation, its args typed. */
export type CallOf<N extends OperationName> = Omit<Event, 'action' | 'args'> & {
  action: N;
  args: OperationInput<N>;
};

/** The event as a call of this operation, with parsed args; undefined for another event, or if the args are not valid. */
export function callOf<N extends OperationName>(event: Event, name: N): CallOf<N> | undefined {
  if (event.action !== name) return undefined;
  const parsed = operations[name].input.safeParse(event.args);
  return parsed.success
    ? { ...event, action: name, args: parsed.data as OperationInput<N> }
    : undefined;
}

type Outcome = Pick<EventArgs<'result'>, 'operation' | 'ok' | 'output'>;

/** The parsed output of this operation’s result; undefined for another operation, an error, or an invalid output. */
export function outputOf<N extends OperationName>(
  name: N,
  { operation, ok, output }: Outcome,
): OperationOutput<N> | undefined {
  if (!ok || operation !== name) return undefined;
  return operations[name].output.safeParse(output).data as OperationOutput<N> | undefined;
}

/** Parses an output from outside; throws `internal` when it does not match the schema. */
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

/** Whether a result only says that its call of an action continues in the background. */
export const isStarted = ({ operation, ok, output }: Outcome): boolean =>
  ok && actionNamed(operation) !== undefined && startedAction.safeParse(output).success;

/** Whether a call waits for or polls something in progress: see `polls` of operations. Any name and input are valid. */
export const isPolling = (name: string, input: unknown): boolean =>
  ask(name, input, (operation, valid) => operation.polls(valid)) ?? false;

/**
 * The text that approval rules match: see `subject` of operations. Parses the input by the schema, because the decision
 * must be about exactly what runs; the subject of an invalid input is the whole input.
 */
export const subjectOf = (name: string, input: unknown, page: string | null = null): string =>
  ask(name, input, (operation, valid) => operation.subject(valid, { page })) ?? whole(input);

/** The summary of a call, for people: see `summary` of operations. */
export const summaryOf = (name: string, input: unknown, page: string | null = null): string =>
  ask(name, input, (operation, valid) => operation.summary(valid, { page })) ?? whole(input);

/** A call with a valid input in one line, such as `terminal.run npm test`. */
export function describeCall(
  operation: Pick<Operation, 'name' | 'summary'>,
  input: unknown,
  page: string | null = null,
): string {
  return oneLine(`${operation.name} ${operation.summary(input, { page })}`);
}

/** Workspace paths in a call’s valid input and, given an output (valid or not), those that it used. */
export function pathsOf(operation: Operation, input: unknown, output?: unknown): readonly string[] {
  return operation.paths(input, operation.output.safeParse(output).data);
}

/** Knowledge about whole files in an output, valid or not. */
export function fileNewsOf({ operation: name, ok, output }: Outcome): readonly FileNews[] {
  const operation = ok ? operationNamed(name) : undefined;
  const parsed = operation?.output.safeParse(output);
  return operation && parsed?.success ? operation.files(parsed.data) : [];
}

/** Operations named in an output, valid or not: see `found` of operations. */
export function foundIn({ operation: name, ok, output }: Outcome): readonly string[] {
  const operation = ok ? operationNamed(name) : undefined;
  const parsed = operation?.output.safeParse(output);
  return operation && parsed?.success ? operation.found(parsed.data) : [];
}

/** What a user’s call did, for the model: see `told` of operations. Accepts any call in the log, with its outcome. */
export function toldOf(call: Pick<Event, 'message'>, { operation: name, ok, output }: Outcome) {
  const operation = ok ? operationNamed(name) : undefined;
  const parsed = operation?.output.safeParse(output);
  const told = operation && parsed?.success ? operation.told(parsed.data) : null;
  return told ?? call.message;
}

/** Pictures in an output, valid or not, to show to a model. */
export function imagesOf(operation: Operation, output: unknown): readonly string[] {
  const parsed = operation.output.safeParse(output);
  return parsed.success ? operation.images(parsed.data) : [];
}

/** The text in one line of at most 200 characters. */
export function oneLine(words: string): string {
  const line = words.replaceAll(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

const longest = 200;

/** Applies a function of the definition to a valid input; undefined without such an operation or for an invalid input. */
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
 * The fields of a result as a model gets them: see `brief` of operations. If the operation’s definition names a field
 * with numbered lines, each line begins with its number and a tab, so the numbers stay correct if lines are cut
 * afterwards.
 */
export function modelFields(
  name: string,
  output: Fields,
): { fields: Fields; numbered: string | null } {
  const operation = operationNamed(name);
  const parsed = operation?.output.safeParse(output);
  if (!operation || !parsed?.success) return { fields: output, numbered: null };
  const brief = operation.brief(parsed.data);
  // A note that was added to the output is kept.
  const added = Object.entries(output).filter(([key]) => !isField(parsed.data, key));
  const fields = brief ? { ...brief, ...Object.fromEntries(added) } : output;
  const numbered = operation.numbered(parsed.data);
  if (!numbered) return { fields, numbered: null };
  const { field, from } = numbered;
  const lines = String(fields[field]).replace(/\n$/, '').split('\n');
  const text = lines.map((line, index) => `${from + index}\t${line}`).join('\n');
  return { fields: { ...fields, [field]: text }, numbered: field };
}

type Fields = Record<string, unknown>;

const isField = (data: unknown, key: string): boolean =>
  typeof data === 'object' && data !== null && Object.hasOwn(data, key);
