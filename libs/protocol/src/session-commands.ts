import { z } from 'zod';
import { approvalAnswer } from './approvals.js';
import type { Risk } from './operation.js';
import { messageEdit, newMessage, newSession } from './session.js';

export interface SessionCommand<I extends z.ZodObject = z.ZodObject> {
  /** A short label for people, such as “Start a session”. */
  readonly title: string;
  /** What a model or a program reads to decide and to call. */
  readonly description: string;
  /** `read` is for viewers, too. */
  readonly risk: Risk;
  readonly input: I;
}

const define = <I extends z.ZodObject>(command: SessionCommand<I>): SessionCommand<I> => command;

const session = z.string().min(1).max(200).describe('The id of the session.');
const after = z.int().nonnegative().default(0).describe('The number of the last event you know.');
const message = z.int().positive().describe('The number of the message in the log.');
const onSession = z.object({ session });

/** The longest that one call of `wait` takes, in seconds: below what clients and proxies bear. */
export const maxWaitSeconds = 55;

/**
 * The control of sessions beside the operations on their sandboxes, defined once for the APIs that are no REST: the
 * plain WebSocket and MCP are projections of it.
 */
export const sessionCommands = {
  start: define({
    title: 'Start a session',
    description:
      'Begins a session: an agent works on the task in a container of its own. Answers at once with its summary; its id is the `session` of all other calls.',
    risk: 'execute',
    input: newSession.partial({ model: true }),
  }),
  list: define({
    title: 'List sessions',
    description: 'Lists sessions in one line each, the newest first.',
    risk: 'read',
    input: z.object({
      archived: z.boolean().default(false).describe('Also archived ones.'),
      limit: z.int().positive().max(500).default(50),
    }),
  }),
  status: define({
    title: 'Show a session',
    description:
      'Shows what a session does now: its state, the question or the approvals that wait for the user, its plan and what it has used.',
    risk: 'read',
    input: onSession,
  }),
  events: define({
    title: 'Read the log',
    description: 'Reads events of a session’s log from a number on, in order.',
    risk: 'read',
    input: onSession.extend({ after, limit: z.int().positive().max(1_000).default(200) }),
  }),
  wait: define({
    title: 'Wait for a session',
    description: `Waits until a session has ended or needs the user, ${maxWaitSeconds} seconds at most, and answers with its summary and the events since \`after\`. Call it again with the number of the last event until the state is an end.`,
    risk: 'read',
    input: onSession.extend({
      after,
      seconds: z.number().min(0).max(maxWaitSeconds).default(30),
      limit: z.int().positive().max(1_000).default(100).describe('Events at most.'),
    }),
  }),
  message: define({
    title: 'Send a message',
    description:
      'Sends a message of the user to a session: an instruction, or the answer to its question. An ended session is resumed by it.',
    risk: 'execute',
    input: onSession.extend(newMessage.shape),
  }),
  edit: define({
    title: 'Edit a queued message',
    description:
      'Changes the text of a message that the agent has not taken yet, by its number in the log.',
    risk: 'execute',
    input: onSession.extend({ message, ...messageEdit.shape }),
  }),
  withdraw: define({
    title: 'Withdraw a queued message',
    description: 'Withdraws a message that the agent has not taken yet, by its number in the log.',
    risk: 'execute',
    input: onSession.extend({ message }),
  }),
  answer: define({
    title: 'Answer an approval',
    description: 'Allows or rejects a call that waits for the user, by its id.',
    risk: 'execute',
    input: onSession.extend({ id: z.string().min(1).max(300), ...approvalAnswer.shape }),
  }),
  pause: define({
    title: 'Pause a session',
    description: 'Pauses a session before its next step.',
    risk: 'execute',
    input: onSession,
  }),
  resume: define({
    title: 'Resume a session',
    description: 'Resumes a paused session.',
    risk: 'execute',
    input: onSession,
  }),
  stop: define({
    title: 'Stop a session',
    description: 'Stops a session and its sandbox; log, files and history are kept.',
    risk: 'execute',
    input: onSession,
  }),
  restart: define({
    title: 'Restart a session',
    description: 'Starts an ended session again, from its log and with its files.',
    risk: 'execute',
    input: onSession,
  }),
} satisfies Record<string, SessionCommand>;

export type SessionCommandName = keyof typeof sessionCommands;
export type SessionCommandInput<N extends SessionCommandName> = z.output<
  (typeof sessionCommands)[N]['input']
>;

export const isSessionCommand = (name: string): name is SessionCommandName =>
  Object.hasOwn(sessionCommands, name);
