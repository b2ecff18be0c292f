import {
  calledOperation,
  eventArgs,
  isCall,
  isEvent,
  operations,
  problemOf,
  sentenceOfCall,
  sessionCommands,
  sessionSummary,
  type SessionCommandName,
  type Event,
  type Operation,
} from '@belay/protocol';
import { Logger } from '@nestjs/common';
import { z } from 'zod';
import { sentError } from '../problem.js';

/** A message of the plain WebSocket, in either direction (similar to OpenDevin’s). */
export const socketMessage = z.object({
  action: z.string().min(1).max(300),
  args: z.record(z.string(), z.unknown()).default({}),
  message: z.string().max(200_000).optional(),
  id: z.union([z.string().max(200), z.number()]).optional(),
});
export type SocketMessage = z.output<typeof socketMessage>;

export interface SentMessage {
  action: string;
  args: object;
  message: string;
  /** Of a reply: the id of the request. Of an event: the id of its call. */
  id?: string | number;
  session?: string;
  seq?: number;
  time?: string;
  source?: string;
}

const verbs: ReadonlyMap<string, Operation> = new Map(
  Object.values<Operation>(operations).flatMap((one) => (one.verb ? [[one.verb, one]] : [])),
);

/** The operation that a verb of the seeds means. */
export const operationOfVerb = (verb: string): Operation | undefined => verbs.get(verb);

/** An event of the log, in the verbs of the seeds where there are some. */
export function eventMessage(session: string, event: Event): SentMessage {
  const { seq, time, source, id, message } = event;
  const about = { session, seq, time, source, ...(id && { id }) };
  if (isEvent(event, 'result') || isEvent(event, 'background-result')) {
    const { operation, ok, output, seconds } = event.args;
    const args = { output: textOf(output), operation, ok, result: output, seconds };
    return { ...about, action: 'output', args, message: ok ? 'Got output.' : message };
  }
  if (isEvent(event, 'plan')) return { ...about, action: 'planner', args: event.args, message };
  if (isEvent(event, 'terminal')) {
    // Text from a terminal is a message `terminal` of its own form.
    return { ...about, action: 'terminal-change', args: event.args, message };
  }
  const said = isCall(event.action) ? sentenceOfCall(event) : message;
  return { ...about, action: verbOf(event.action), args: event.args, message: said };
}

export function outputMessage(operation: string, output: unknown): SentMessage {
  const args = { output: textOf(output), operation, ok: true, result: output };
  return { action: 'output', args, message: 'Got output.' };
}

/**
 * The reply to a command. An action has one form, whether it is a reply or an event: a session’s summary is always
 * `session`.
 */
export function commandMessage(name: SessionCommandName, result: unknown): SentMessage {
  const args = Object(result) as { id?: string };
  if (sessionCommands[name].output === sessionSummary)
    return { action: 'session', session: args.id ?? '', args, message: 'Done.' };
  const action = Object.hasOwn(eventArgs, name) ? `${name}-reply` : name;
  return { action, args, message: 'Done.' };
}

export function errorMessage(thrown: unknown): SentMessage {
  const error = sentError(thrown, logger);
  return { action: 'error', args: problemOf(error), message: error.message };
}

const logger = new Logger('WebSocket');

/** A verb that is also an event’s name is kept for the event. */
function verbOf(action: string): string {
  const verb = calledOperation(action)?.verb;
  return verb && !Object.hasOwn(eventArgs, verb) ? verb : action;
}

const spoken = z.union([
  z.string(),
  z.object({ text: z.string() }).transform(({ text }) => text),
  z.object({ content: z.string() }).transform(({ content }) => content),
  z.object({ message: z.string() }).transform(({ message }) => message),
]);

/** A program’s output, a file’s content or an error’s sentence; otherwise everything as JSON. */
function textOf(output: unknown): string {
  const { data: json } = printedJson.safeParse(output);
  if (json) return JSON.stringify(json.structured);
  const { data } = spoken.safeParse(output);
  return data ?? JSON.stringify(output ?? null);
}

/** The output of an action that printed JSON, which is not repeated as text. */
const printedJson = z.object({
  text: z.literal(''),
  structured: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]),
});
