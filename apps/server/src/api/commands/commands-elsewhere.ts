import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { AppError, bytesText, errorFrom, errorOfProblem, type Event } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import { PeerAgent } from '../../peers/peer-agent.js';
import { PeerWatch } from '../../peers/peer-watch.js';
import { SessionServers } from '../../peers/session-servers.js';
import type { LiveServer } from '../../storage/live-servers.js';

/** Where a server takes commands of others; it exists only for them. */
export const peerCommandsPath = '/peers/commands';

/** The characters of a line: as many as the bytes of the largest message of an agent, whose answer it may be. */
const maxLine = 80 * 2 ** 20;

type CommandAnswer = { value?: unknown } | { error: object };

/** A line of the answer, which ends with its value or an error. */
export type CommandLine = { event: Event } | CommandAnswer;

/** A command, or a call of an operation, that may be about a session of another server. */
export interface PassableCall {
  name: string;
  input: unknown;
  signal?: AbortSignal | undefined;
  id?: string | undefined;
  onEvent?: ((event: Event) => void) | undefined;
  isPassedOn?: boolean | undefined;
  isAudited?: boolean | undefined;
  /** Called first when the session’s server does not answer: what it answers, it records in the audit log. */
  onUnanswered?: ((error: AppError) => unknown) | undefined;
}

/** Commands on sessions of other servers, which carry them out in the caller’s name. */
@Injectable()
export class CommandsElsewhere {
  constructor(
    private readonly servers: SessionServers,
    private readonly watch: PeerWatch,
  ) {}

  /**
   * The result of the session’s server; undefined for a session of this one, or none. Throws what that server throws;
   * `unavailable` when no server has the session now, or its server ended before it answered; and `cancelled`.
   */
  async call(
    session: string | undefined,
    caller: Caller,
    call: PassableCall,
  ): Promise<{ value: unknown } | undefined> {
    const answer = session === undefined ? undefined : await this.#answer(session, caller, call);
    if (answer && 'error' in answer) throw errorFrom(answer.error);
    return answer && { value: answer.value };
  }

  async #answer(
    session: string,
    caller: Caller,
    call: PassableCall,
  ): Promise<CommandAnswer | undefined> {
    try {
      if (call.isPassedOn) {
        await this.servers.assertOwn(session);
        return undefined;
      }
      const server = await this.servers.other(session);
      return server && (await this.#ask(server, caller, call));
    } catch (error) {
      const known = errorFrom(error);
      if (known.code !== 'cancelled') await call.onUnanswered?.(known);
      throw error;
    }
  }

  async #ask(server: LiveServer, caller: Caller, call: PassableCall): Promise<CommandAnswer> {
    const { name, input, id, isAudited, signal, onEvent } = call;
    if (signal?.aborted) throw cancelled();
    const sent = requestTo(server, caller);
    const stop = (): void => void sent.destroy(cancelled());
    signal?.addEventListener('abort', stop, { once: true });
    this.watch.add(server.id, sent);
    try {
      sent.end(JSON.stringify({ name, input, id, isAudited }));
      return await answerOf(await responseTo(sent), onEvent);
    } catch (error) {
      if (signal?.aborted) throw cancelled();
      throw error instanceof AppError ? error : broken();
    } finally {
      signal?.removeEventListener('abort', stop);
      sent.destroy();
    }
  }
}

function requestTo(server: LiveServer, { id, via }: Caller): ClientRequest {
  // What has no address is done by the server itself.
  const { api = 'rest', address = '127.0.0.1' } = via ?? {};
  return httpRequest({
    agent: new PeerAgent(server, { address, kind: 'caller', caller: { id, api } }),
    method: 'POST',
    path: peerCommandsPath,
    headers: { 'content-type': 'application/json' },
  });
}

function responseTo(sent: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Errors after the response has begun reject the reading of it.
  sent.once('response', resolve).on('error', reject);
  return promise;
}

async function answerOf(
  reply: IncomingMessage,
  onEvent: ((event: Event) => void) | undefined,
): Promise<CommandAnswer> {
  for await (const line of linesOf(reply)) {
    if (reply.statusCode !== 200) throw errorOfProblem(line) ?? broken();
    const read = JSON.parse(line) as CommandLine;
    if (!('event' in read)) return read;
    onEvent?.(read.event);
  }
  throw broken();
}

/** Not by `readline`, which also splits within strings of JSON. */
async function* linesOf(reply: IncomingMessage): AsyncGenerator<string> {
  let begun: string[] = [];
  let length = 0;
  for await (const chunk of reply.setEncoding('utf8') as AsyncIterable<string>) {
    const [first = '', ...more] = chunk.split('\n');
    begun.push(first);
    length += first.length;
    if (length > maxLine) throw tooLarge();
    for (const next of more) {
      yield begun.join('');
      begun = [next];
      length = next.length;
    }
  }
  // A refusal is one line without an end.
  if (length > 0) yield begun.join('');
}

const cancelled = (): AppError => new AppError('cancelled', 'The call was cancelled.');

const tooLarge = (): AppError =>
  new AppError(
    'too_large',
    `The answer of the session’s server is larger than ${bytesText(maxLine)} and was not read. See what was done, then ask for less.`,
  );

const broken = (): AppError =>
  new AppError(
    'unavailable',
    'The server of this session ended before it answered. See what was done, then try again.',
  );
