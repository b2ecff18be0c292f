import { z } from 'zod';
import type { Scope } from './access.js';
import { approvalAnswer } from './approvals.js';
import { event } from './events.js';
import { forkRequest, rewindRequest, rewound } from './session-requests.js';
import {
  isEnded,
  newSession,
  sessionChange,
  sessionSummary,
  type SessionSummary,
} from './session.js';
import { messageEdit, newMessage } from './session-messages.js';

const session = z.string().min(1).max(200).describe('The id of the session.');
const message = z.int().positive().describe('The number of the message in the log.');

/** The subjects of commands: ids, which are fields of the input and, in this order, parameters of the route. */
const subjects = {
  none: {},
  session: { session },
  message: { session, message },
  call: { session, id: z.string().min(1).max(300) },
};
type Subjects = typeof subjects;

/** The callers of a command: users’ programs may call every command; models are offered as tools those with `model`. */
type Audience = 'user' | 'model';

interface CommandTraits {
  /** For a button or a menu: “Pause”. */
  readonly label: string;
  /** For a list of tools or commands: “Pause a session”. */
  readonly title: string;
  /** The documentation for a model or a program that may call the command. */
  readonly description: string;
  /** `view` only reads, and is not audited. */
  readonly scope: Scope;
  readonly audience: readonly Audience[];
  /** Whether it ends work or cannot be undone, so that people are asked first. */
  readonly asksFirst: boolean;
  /** Whether it creates a session with a given id, so that a repetition with that id finds it. */
  readonly createsById: boolean;
  /** Whether people are offered it now. The server decides by itself what to refuse, and accepts repetitions. */
  offered(this: void, session: Pick<SessionSummary, 'state' | 'archived' | 'modelError'>): boolean;
}

export interface SessionCommand<
  I extends z.ZodObject = z.ZodObject,
  B extends z.ZodObject | undefined = z.ZodObject | undefined,
  O extends z.ZodType = z.ZodType,
> extends CommandTraits {
  readonly about: keyof Subjects;
  /** The input besides the ids: the body of its route. */
  readonly body: B;
  /** The ids and the body: the whole input of an API without paths. */
  readonly input: I;
  readonly output: O;
}

interface Definition<A, B, O>
  extends
    Pick<CommandTraits, 'label' | 'title' | 'description'>,
    Partial<Omit<CommandTraits, 'label' | 'title' | 'description'>> {
  /** Default: the session. */
  about?: A;
  /** Default: nothing. */
  body?: B;
  /** Default: the session’s summary. */
  output?: O;
}

type Input<A extends keyof Subjects, B> = z.ZodObject<
  Subjects[A] & (B extends z.ZodObject<infer S extends z.ZodRawShape> ? S : Record<never, never>)
>;

function define<
  A extends keyof Subjects = 'session',
  B extends z.ZodObject | undefined = undefined,
  O extends z.ZodType = typeof sessionSummary,
>(definition: Definition<A, B, O>): SessionCommand<Input<A, B>, B, O> {
  const { about = 'session', body, output: schema = sessionSummary } = definition;
  const ids: z.ZodRawShape = subjects[about];
  return {
    scope: 'operate',
    audience: ['user', 'model'],
    asksFirst: false,
    createsById: false,
    offered: () => true,
    ...definition,
    about,
    body: body as B,
    input: z.object({ ...ids, ...body?.shape }) as unknown as Input<A, B>,
    output: schema as O,
  };
}

const after = z
  .int()
  .nonnegative()
  .default(0)
  .describe('The number of the last event that you know.');

/** The longest duration of one call of `wait`, in seconds: shorter than the timeouts of clients and proxies. */
export const maxWaitSeconds = 55;

/**
 * The commands that control sessions, besides the operations on their sandboxes, defined once: the routes of REST, the tools of MCP,
 * the actions of the plain WebSocket and the dashboard’s controls are projections of it.
 */
export const sessionCommands = {
  start: define({
    label: 'Start',
    title: 'Start a session',
    description:
      'Starts a session: an agent works on the task in a container of its own. Returns the session’s summary immediately; its id is the `session` of all other calls.',
    about: 'none',
    createsById: true,
    body: newSession.partial({ model: true }).extend({
      paused: z
        .boolean()
        .default(false)
        .describe(
          'Whether only the sandbox starts, and the agent waits until the session is resumed.',
        ),
    }),
  }),
  list: define({
    label: 'List',
    title: 'List sessions',
    description: 'Lists the summaries of sessions, newest first.',
    about: 'none',
    scope: 'view',
    body: z.object({
      archived: z.boolean().default(false).describe('Whether to include archived sessions.'),
      limit: z.int().positive().max(500).default(50),
    }),
    output: z.object({ sessions: z.array(sessionSummary) }),
  }),
  status: define({
    label: 'Show',
    title: 'Show a session',
    description:
      'Shows what a session is doing: its state, the question or the approvals waiting for the user, its plan and its usage.',
    scope: 'view',
  }),
  events: define({
    label: 'Read the log',
    title: 'Read the log',
    description: 'Reads the events of a session’s log after a number, in order.',
    scope: 'view',
    body: z.object({ after, limit: z.int().positive().max(1_000).default(200) }),
    output: z.object({ events: z.array(event) }),
  }),
  wait: define({
    label: 'Wait',
    title: 'Wait for a session',
    description: `Waits until a session has ended or needs the user, but at most ${maxWaitSeconds} seconds, and returns its summary and the events since \`after\`. Call it again with the number of the last event until the state is a final one.`,
    scope: 'view',
    body: z.object({
      after,
      seconds: z.number().min(0).max(maxWaitSeconds).default(30),
      limit: z.int().positive().max(1_000).default(100).describe('The maximum number of events.'),
    }),
    output: z.object({ session: sessionSummary, events: z.array(event) }),
  }),
  message: define({
    label: 'Send',
    title: 'Send a message',
    description:
      'Sends a message from the user to a session: an instruction, or the answer to its question. This restarts a session that has ended.',
    body: newMessage,
  }),
  edit: define({
    label: 'Edit',
    title: 'Edit a queued message',
    description:
      'Changes the text of a message that the agent has not read yet, by its number in the log.',
    about: 'message',
    body: messageEdit,
  }),
  withdraw: define({
    label: 'Withdraw',
    title: 'Withdraw a queued message',
    description: 'Withdraws a message that the agent has not read yet, by its number in the log.',
    about: 'message',
  }),
  answer: define({
    label: 'Answer',
    title: 'Answer an approval',
    description: 'Allows or rejects a call that is waiting for the user, by its id.',
    about: 'call',
    body: approvalAnswer,
  }),
  pause: define({
    label: 'Pause',
    title: 'Pause a session',
    description: 'Pauses a session before its next step.',
    offered: ({ state }) => !isEnded(state) && state !== 'paused',
  }),
  interrupt: define({
    label: 'Interrupt',
    title: 'Interrupt a session',
    description:
      'Pauses a session at once: the model’s reply that is in progress is broken off, and so are its calls.',
    audience: ['user'],
    offered: ({ state }) => !isEnded(state) && state !== 'paused',
  }),
  resume: define({
    label: 'Resume',
    title: 'Resume a session',
    description: 'Resumes a paused session, or tries a model that cannot be called again at once.',
    offered: ({ state, modelError }) => state === 'paused' || Boolean(modelError),
  }),
  stop: define({
    label: 'Stop',
    title: 'Stop a session',
    description: 'Stops a session and its sandbox; the log, files and history are kept.',
    asksFirst: true,
    offered: ({ state }) => !isEnded(state),
  }),
  restart: define({
    label: 'Restart',
    title: 'Restart a session',
    description: 'Restarts an ended session with its log and files.',
    offered: ({ state }) => isEnded(state),
  }),
  change: define({
    label: 'Change',
    title: 'Change a session',
    description:
      'Changes the title, tags, archived state, approval mode, budgets, model or network; omitted fields stay as they are.',
    audience: ['user'],
    body: sessionChange,
  }),
  remove: define({
    label: 'Delete',
    title: 'Delete a session',
    description: 'Deletes a session with its container, files and logs.',
    audience: ['user'],
    asksFirst: true,
    offered: ({ state }) => isEnded(state),
    output: z.object({}),
  }),
  wake: define({
    label: 'Start its sandbox',
    title: 'Start the sandbox of an ended session',
    description:
      'Starts the sandbox of an ended session, so that its files can be read and changed.',
    audience: ['user'],
    offered: ({ state }) => isEnded(state),
  }),
  fork: define({
    label: 'Fork',
    title: 'Fork a session',
    description:
      'Creates a new session with the log and files of this one up to an event, and returns it.',
    audience: ['user'],
    body: forkRequest,
  }),
  rewind: define({
    label: 'Rewind',
    title: 'Rewind a session',
    description:
      'Rewinds the files, the conversation or both to an event, or previews the changes.',
    audience: ['user'],
    asksFirst: true,
    body: rewindRequest,
    output: rewound,
  }),
};

type Commands = typeof sessionCommands;
export type SessionCommandName = keyof Commands;
/** The parsed input of a command, for its handler. */
export type CommandInput<N extends SessionCommandName> = z.output<Commands[N]['input']>;
export type CommandOutput<N extends SessionCommandName> = z.output<Commands[N]['output']>;

export const isSessionCommand = (name: string): name is SessionCommandName =>
  Object.hasOwn(sessionCommands, name);

/** The id fields of a command, in the order of its route’s parameters. */
export const idsOf = ({ about }: SessionCommand): string[] => Object.keys(subjects[about]);
