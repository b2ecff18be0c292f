import { Injectable } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  isEnded,
  maxShortText,
  rejectionOf,
  withShortTexts,
  type ApprovalRequest,
  type OperationName,
  type OperationOutput,
} from '@belay/protocol';
import { timeLimit } from '@belay/rpc';
import { may } from '../../access/caller.js';
import { ApprovalService } from '../../approvals/approval.service.js';
import { SessionServers } from '../../peers/session-servers.js';
import { SandboxService } from '../../sandboxes/sandbox.service.js';
import { Dispatcher, newUserCallId, type UserCallRequest } from '../../sessions/dispatcher.js';
import { EventFeed } from '../../sessions/feed/event-feed.js';
import { SessionService } from '../../sessions/session.service.js';

interface Call<N extends string = string> extends Omit<UserCallRequest<N>, 'id'> {
  /** Called while the user is asked. */
  onAsking?: (asking: boolean) => void;
}

/**
 * Calls of a GPT. A model makes them, so rules and the session’s mode apply as for the agent’s calls, and the user is
 * asked when they require it.
 */
@Injectable()
export class GptCalls {
  constructor(
    private readonly servers: SessionServers,
    private readonly approvals: ApprovalService,
    private readonly dispatcher: Dispatcher,
    private readonly sessions: SessionService,
    private readonly sandboxes: SandboxService,
    private readonly feed: EventFeed,
  ) {}

  /** Throws what `allow` and the dispatcher throw. */
  call<N extends OperationName>(
    session: string,
    call: Call<N>,
    signal: AbortSignal,
  ): Promise<OperationOutput<N>>;
  call(session: string, call: Call, signal: AbortSignal): Promise<unknown>;
  async call(session: string, call: Call, signal: AbortSignal): Promise<unknown> {
    const id = newUserCallId();
    await this.allow(session, { ...call, id }, signal);
    const { name, input, caller } = call;
    return this.dispatcher.call(session, { name, input, caller, id }, signal);
  }

  /**
   * Resolves once the call may be made and the session has an agent. Throws `rejected`, `forbidden` when nobody can be
   * asked, and `invalid_input` without an agent.
   */
  async allow(session: string, call: Call & { id?: string }, signal: AbortSignal): Promise<void> {
    await this.#assertHere(session);
    const { operation, input } = await this.dispatcher.check(session, call);
    await this.#awake(session, call, signal);
    const page = await this.approvals.page(session);
    const subject = operation.subject(operation.input.parse(input), { page });
    const { id = newUserCallId() } = call;
    // The decision is about the subject. Other long texts in a path’s call, such as a file’s content, are only shown.
    const about = operation.subjectKind === 'path' ? withShortTexts(input, maxShortText) : input;
    const { name, risk } = operation;
    await this.#decide(
      session,
      { id, operation: name, input: about, risk, subject },
      { call, signal },
    );
  }

  /** The calls of GPTs and their results are kept by the server that they ask. */
  async #assertHere(session: string): Promise<void> {
    if (await this.servers.other(session))
      throw lost('Another server works on this session, where a GPT does not reach it.');
  }

  async #decide(
    session: string,
    request: ApprovalRequest,
    { call, signal }: { call: Call; signal: AbortSignal },
  ): Promise<void> {
    const { state } = await this.sessions.summary(session);
    call.onAsking?.(true);
    const verdict = await (
      isEnded(state)
        ? this.approvals.withoutAsking(session, request)
        : this.approvals.request(session, request, signal)
    ).finally(() => call.onAsking?.(false));
    if (!verdict) {
      const remedy = 'Write to the session first, which resumes it.';
      throw new AppError(
        'forbidden',
        `The session is ${state}, so the user is not asked. ${remedy}`,
      );
    }
    if (verdict.verdict === 'rejected') throw rejectionOf(verdict);
  }

  /** Waits for a session that starts. Starts the sandbox of an ended one, if the caller may do that. */
  async #awake(session: string, { caller }: Call, signal: AbortSignal): Promise<void> {
    const late = timeLimit(startTimeoutMs, signal);
    while (await this.#isStarting(session)) {
      const { lastSeq: after } = await this.sessions.summary(session);
      await this.feed.next(session, { after, waitMs: lookAgainMs }, late);
      if (late.aborted) throw new AppError('timeout', 'The session has not started yet.');
    }
    if (!this.sandboxes.agent(session) && may(caller, 'operate', session)) {
      await this.sessions.wake(session).catch((error: unknown) => {
        // Such as a joined machine that is not connected.
        throw errorFrom(error).code === 'unavailable' ? lost(errorFrom(error).message) : error;
      });
    }
    if (!this.sandboxes.agent(session)) throw lost('The agent of this session is lost.');
  }

  /** The state of a paused session does not tell whether its agent is connected. */
  async #isStarting(session: string): Promise<boolean> {
    if (this.sandboxes.agent(session) || this.sandboxes.state(session) === 'lost') return false;
    return !isEnded((await this.sessions.summary(session)).state);
  }
}

/** A conversation with a lost agent gets the same status as one without an agent, like Carabiner. */
const lost = (why: string): AppError =>
  new AppError('invalid_input', `${why} Use another agent, or start a session.`);

/** How long a call waits for the sandbox of a session. */
const startTimeoutMs = 120_000;
const lookAgainMs = 500;
