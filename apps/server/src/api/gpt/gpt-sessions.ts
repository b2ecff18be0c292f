import { Injectable } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  gptRoutes,
  sessionCommands,
  type Event,
  type GptSession,
  type RouteInput,
  type Scope,
  type SessionSummary,
  withShortTexts,
} from '@belay/protocol';
import type { Request } from 'express';
import { assertMay, may, seesAll, type Caller } from '../../access/caller.js';
import { SessionService } from '../../sessions/session.service.js';
import { callerOf, noteMade } from '../auth/access.guard.js';
import { SessionCommands } from '../commands/session-commands.js';
import { conversationIdOf, Conversations } from './conversations.js';

/** Finds the session of a GPT’s request, and creates sessions. */
@Injectable()
export class GptSessions {
  constructor(
    private readonly sessions: SessionService,
    private readonly commands: SessionCommands,
    private readonly conversations: Conversations,
  ) {}

  /**
   * The session that the request names, else that of its conversation, else the only one that its caller sees. Throws
   * `invalid_input` when there is none or it was deleted, like Carabiner.
   */
  async sessionFor(
    request: Request,
    named: string | undefined,
    access: Scope = 'view',
  ): Promise<string> {
    const caller = callerOf(request);
    const id = named ?? this.#bound(caller, request) ?? (await this.#only(caller));
    if (id === undefined) throw new AppError('invalid_input', useAgentFirst);
    await this.#summary(caller, id, access);
    return id;
  }

  /** Assigns a session to the conversation of a request. */
  async bind(request: Request, id: string): Promise<GptSession> {
    const caller = callerOf(request);
    const conversation = conversationIdOf(request.headers);
    if (conversation === undefined) {
      throw new AppError('invalid_input', 'The header openai-conversation-id is missing.');
    }
    const summary = await this.#summary(caller, id);
    await this.conversations.bind(caller, conversation, id);
    // The sandbox is needed soon; calls that wait for it report its errors.
    if (may(caller, 'operate', id)) void this.sessions.wake(id).catch(() => undefined);
    return gptSessionOf(summary);
  }

  async start(
    request: Request,
    { task, title, model }: RouteInput<typeof gptRoutes.startSession>['body'],
  ): Promise<GptSession> {
    const caller = callerOf(request);
    const isMachine = task === undefined;
    const wanted = sessionCommands.start.input.parse({
      task: task ?? machineTask,
      model,
      title: title ?? (isMachine ? 'Machine of a GPT' : undefined),
      paused: isMachine,
    });
    const made = await this.commands.run('start', wanted, {
      caller,
      made: (what) => noteMade(what, request),
    });
    const conversation = conversationIdOf(request.headers);
    if (conversation !== undefined) await this.conversations.bind(caller, conversation, made.id);
    return gptSessionOf(made);
  }

  async get(id: string): Promise<GptSession> {
    return gptSessionOf(await this.sessions.summary(id));
  }

  async list(caller: Caller): Promise<GptSession[]> {
    const all = await this.sessions.list(caller);
    return all
      .filter(({ archived }) => !archived)
      .slice(0, maxListed)
      .map(gptSessionOf);
  }

  #bound(caller: Caller, { headers }: Request): string | undefined {
    const conversation = conversationIdOf(headers);
    return conversation === undefined
      ? undefined
      : this.conversations.session(caller, conversation);
  }

  async #only(caller: Caller): Promise<string | undefined> {
    if (seesAll(caller)) return undefined;
    const sessions = await this.sessions.list(caller);
    return sessions.length === 1 ? sessions[0]?.id : undefined;
  }

  /** Missing sessions and those hidden from the caller give the same error. */
  async #summary(caller: Caller, id: string, access: Scope = 'view'): Promise<SessionSummary> {
    try {
      assertMay(caller, access, id);
      return await this.sessions.summary(id);
    } catch (error) {
      if (errorFrom(error).code !== 'not_found') throw error;
      throw new AppError(
        'invalid_input',
        `There is no agent ${id.slice(0, 100)}. ${useAgentFirst}`,
      );
    }
  }
}

/** As many shortened events as fit into a response, and at least one if there is any. */
export function pageOfEvents(events: readonly Event[], after: number, maxCharacters: number) {
  const page: Record<string, unknown>[] = [];
  let last = after;
  let size = 0;
  for (const { seq, time, source, action, args, message } of events) {
    const short = withShortTexts(args, 1_000);
    const isLarge = JSON.stringify(short).length > maxCharacters / 4;
    const text = message.slice(0, 2_000);
    const item = { seq, time, source, action, message: text, ...(!isLarge && { args: short }) };
    size += JSON.stringify(item).length;
    if (page.length > 0 && size > maxCharacters) break;
    page.push(item);
    last = seq;
  }
  return { events: page, last };
}

const maxListed = 50;

const machineTask = 'A GPT uses this machine. Its agent waits until the session is resumed.';

const useAgentFirst =
  'Call useAgent with the id that the agent printed, or startSession, or name the session.';

export const gptSessionOf = (summary: SessionSummary): GptSession => ({
  session: summary.id,
  title: summary.title.slice(0, 200),
  state: summary.state,
  reason: summary.reason,
  question: summary.question,
  waitingFor: summary.waitingFor.map(({ operation, subject }) =>
    `${operation} ${subject}`.slice(0, 500),
  ),
  lastEvent: summary.lastSeq,
});
