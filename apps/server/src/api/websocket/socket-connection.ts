import {
  AppError,
  faultOf,
  isSessionCommand,
  lenientInput,
  modelTool,
  NewestSet,
  operationNamed,
  operations,
  sessionSummary,
  type InstalledOperation,
  type Operation,
} from '@belay/protocol';
import { z } from 'zod';
import { seesTerminals, type Caller } from '../../access/caller.js';
import { newUserCallId } from '../../sessions/dispatcher.js';
import type { SessionFollowers } from '../../sessions/feed/session-followers.js';
import { parsedInput } from '../../parsed-input.js';
import type { ApiSocket } from '../api-socket.js';
import type { SessionCommands } from '../commands/session-commands.js';
import { parseJson } from '../json-bodies.js';
import { tooManyRequests } from '../limits/request-budget.js';
import {
  commandMessage,
  errorMessage,
  operationOfVerb,
  outputMessage,
  socketMessage,
} from './socket-messages.js';
import type { SentMessage, SocketMessage } from './socket-messages.js';
import { SocketFollower, watchRequest } from './socket-follower.js';

const maxUnderWay = 32;
/** Requests beyond the budget that are answered with an error before the connection ends. */
const maxRefused = 200;
/** Of its own calls, of which some are in no watched log. */
const maxOwn = 1_000;

type SpecialAction = (
  caller: Caller,
  args: Record<string, unknown>,
) => Promise<SentMessage> | SentMessage;

const introduction = z.object({ token: z.string().min(1).max(1_000) });

/** One client of the plain WebSocket. An error stays within the request that caused it. */
export class SocketConnection {
  readonly #follower: SocketFollower;
  /** Calls whose output is sent as a reply, and therefore not again as an event. */
  readonly #own = new NewestSet<string>(maxOwn);
  #refused = 0;
  #underWay = 0;
  /** The session of requests without a `session`: the one that was begun or watched last. */
  #session: string | undefined;

  constructor(
    private readonly socket: ApiSocket,
    private readonly commands: SessionCommands,
    followers: SessionFollowers<SocketFollower>,
  ) {
    this.#follower = new SocketFollower(socket, this.#own, followers);
    socket.onMessage((data, isBinary) => this.#receive(data, isBinary));
    socket.closing.addEventListener('abort', () => this.#follower.close(), { once: true });
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (!this.socket.takeRequest()) {
      this.#refused += 1;
      if (this.#refused > maxRefused) {
        return this.socket.close('tooManyRequests', 'Too many requests.');
      }
      return void this.socket.send(errorMessage(tooManyRequests()));
    }
    let read: SocketMessage;
    try {
      read = parsedMessage(data, isBinary);
    } catch (error) {
      return void this.socket.send(errorMessage(error));
    }
    const { id } = read;
    const about = id === undefined ? {} : { id };
    const { caller } = this.socket;
    if (!caller) return this.#introduce(read);
    if (this.#underWay >= maxUnderWay) {
      return void this.socket.send({ ...errorMessage(tooManyRequests()), ...about });
    }
    this.#underWay += 1;
    void this.#answer(caller, read)
      .catch((error: unknown) => errorMessage(error))
      .then((reply) => this.socket.send({ ...reply, ...about }))
      .finally(() => (this.#underWay -= 1));
  }

  /** The first message of a caller without a token in its headers. */
  #introduce({ action, args, id }: SocketMessage): void {
    const { data } = introduction.safeParse(args);
    let caller: Caller | undefined;
    try {
      caller = action === 'auth' && data ? this.socket.introduce(data.token) : undefined;
    } catch (error) {
      void this.socket.send(errorMessage(error));
      return this.socket.close('tooManyRequests', 'Too many sockets are open.');
    }
    if (!caller) {
      const first = 'Send {"action":"auth","args":{"token":"…"}} first.';
      void this.socket.send(errorMessage(new AppError('unauthorized', first)));
      return this.socket.close('unauthorized', 'The token is missing or wrong.');
    }
    void this.socket.send({
      action: 'auth',
      args: { scope: caller.scope },
      message: 'Welcome.',
      ...(id !== undefined && { id }),
    });
  }

  async #answer(caller: Caller, { action, args, message }: SocketMessage): Promise<SentMessage> {
    const signal = this.socket.closing;
    const special = this.#special.get(action);
    if (special) return special(caller, args);
    const spoken = spokenAs(action, args, message);
    const name = spoken.name;
    const input = this.#session ? { session: this.#session, ...spoken.args } : spoken.args;
    if (isSessionCommand(name)) {
      const given = name === 'start' ? spoken.args : input;
      const result = await this.commands.call(caller, { name, input: given, signal });
      if (name === 'start') return this.#started(result);
      return commandMessage(name, result);
    }
    const { session, ...fields } = input;
    const operation = operationOfVerb(name) ?? operationNamed(name);
    const read = operation ? lenientInput(operation, fields).input : fields;
    const id = newUserCallId();
    this.#own.add(id);
    try {
      const asked = { ...Object(read), session };
      const called = operation?.name ?? name;
      const output = await this.commands.call(caller, {
        name: called,
        input: asked,
        signal,
        id,
      });
      return outputMessage(called, output);
    } catch (error) {
      this.#own.delete(id);
      throw error;
    }
  }

  async #started(result: unknown): Promise<SentMessage> {
    const summary = sessionSummary.parse(result);
    this.#session = summary.id;
    const { id: session } = summary;
    await this.#follower.watch({ session, after: 0, terminals: false, deltas: false });
    return {
      action: 'session',
      session: summary.id,
      args: summary,
      message: 'Starting new agent…',
    };
  }

  readonly #special = new Map<string, SpecialAction>(
    Object.entries<SpecialAction>({
      watch: async (caller, args) => {
        const given = { session: this.#session, ...args };
        const data = parsedInput('watch', watchRequest, given);
        const summary = await this.commands.call(caller, {
          name: 'status',
          input: { session: data.session },
          signal: this.socket.closing,
        });
        this.#session = data.session;
        const terminals = seesTerminals(caller, data.session) && data.terminals;
        await this.#follower.watch({ ...data, terminals });
        return {
          action: 'session',
          session: data.session,
          args: Object(summary) as object,
          message: 'Watching.',
        };
      },
      unwatch: (_, args) => {
        const { data } = watchRequest.safeParse({ session: this.#session, ...args });
        this.#follower.unwatch(data?.session ?? '');
        return { action: 'unwatch', args: {}, message: 'Done.' };
      },
      operations: (caller) => ({
        action: 'operations',
        args: {
          operations: [
            ...Object.values<Operation>(operations).filter(isForUsers).map(described),
            ...this.commands.installed(caller).map(describedInstalled),
          ],
        },
        message: 'These may be called.',
      }),
    }),
  );
}

function parsedMessage(data: Buffer, isBinary: boolean): SocketMessage {
  if (isBinary) throw new AppError('invalid_input', 'Send JSON as text, not as bytes.');
  const parsed = socketMessage.safeParse(parseJson(data));
  if (parsed.success) return parsed.data;
  throw new AppError('invalid_input', `Send {"action": …, "args": {…}}: ${faultOf(parsed.error)}.`);
}

/** Words for chat and control in similar projects, as the commands that they stand for. */
function spokenAs(
  action: string,
  args: Record<string, unknown>,
  message: string | undefined,
): { name: string; args: Record<string, unknown> } {
  const own = aliases.get(action);
  const named = own ? { name: own.name, args: { ...args, ...own.args } } : { name: action, args };
  const isChat = named.name === 'message' && named.args['text'] === undefined;
  return isChat && message !== undefined
    ? { name: named.name, args: { ...named.args, text: message } }
    : named;
}

const aliases = new Map<string, { name: string; args?: Record<string, unknown> }>([
  ['chat', { name: 'message' }],
  ['say', { name: 'message' }],
  ['approve', { name: 'answer', args: { verdict: 'approved' } }],
  ['reject', { name: 'answer', args: { verdict: 'rejected' } }],
  // A user’s `finish` ends the work; the agent’s `finish` is an event.
  ['finish', { name: 'stop' }],
]);

const isForUsers = ({ audience }: Operation): boolean => audience.includes('user');

const described = (operation: Operation): object => {
  const { title, description, risk, name, verb } = operation;
  return { name, verb, title, description, risk, input: modelTool(operation).parameters };
};

const describedInstalled = ({ operation, tool }: InstalledOperation): object => ({
  ...described(operation),
  description: tool.description,
  input: tool.parameters,
});
