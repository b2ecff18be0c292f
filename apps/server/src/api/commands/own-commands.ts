import { Injectable } from '@nestjs/common';
import {
  AppError,
  isEnded,
  needsUser,
  type CommandInput,
  type CommandOutput,
  type Event,
  type SessionCommandName,
  type SessionSummary,
} from '@belay/protocol';
import { timeLimit } from '@belay/rpc';
import { ApprovalService } from '../../approvals/approval.service.js';
import { EventFeed } from '../../sessions/feed/event-feed.js';
import { SessionService } from '../../sessions/session.service.js';
import type { CommandContext, CommandHandlers } from './command-handlers.js';
import { LifecycleCommands } from './lifecycle-commands.js';

/** The commands on sessions of this server: maps each command of the protocol to the service that carries it out. */
@Injectable()
export class OwnCommands {
  constructor(
    private readonly sessions: SessionService,
    private readonly lifecycle: LifecycleCommands,
    private readonly approvals: ApprovalService,
    private readonly feed: EventFeed,
  ) {}

  /** Runs a command with parsed input; access checks and the audit log are up to the calling code. */
  run<N extends SessionCommandName>(
    name: N,
    input: CommandInput<N>,
    context: CommandContext,
  ): Promise<CommandOutput<N>> {
    return this.#handlers[name](input, context);
  }

  readonly #handlers: CommandHandlers = {
    start: (input, context) => this.lifecycle.start(input, context),
    list: async ({ archived, limit }, { caller }) => {
      const all = await this.sessions.list(caller);
      return { sessions: all.filter((one) => archived || !one.archived).slice(0, limit) };
    },
    status: ({ session }) => this.sessions.summary(session),
    events: async ({ session, after, limit }) => ({
      events: await this.sessions.events(session, { after, limit }),
    }),
    wait: (input, context) => this.#wait(input, context),
    message: ({ session, ...message }, { caller }) =>
      this.#after(session, this.sessions.message(session, message, caller)),
    edit: ({ session, message, text }) =>
      this.#after(session, this.sessions.editMessage(session, message, text)),
    withdraw: ({ session, message }) =>
      this.#after(session, this.sessions.withdrawMessage(session, message)),
    answer: ({ session, id, ...answer }, { caller }) =>
      this.#after(session, this.approvals.answer(session, { id, caller }, answer)),
    pause: ({ session }) => this.#after(session, this.sessions.pause(session)),
    interrupt: ({ session }) => this.#after(session, this.sessions.interrupt(session)),
    resume: ({ session }) => this.#after(session, this.sessions.resume(session)),
    stop: ({ session }) => this.#after(session, this.sessions.stop(session)),
    restart: ({ session }) => this.#after(session, this.sessions.restart(session)),
    change: ({ session, ...change }, { caller }) => this.sessions.change(session, change, caller),
    remove: (input) => this.lifecycle.remove(input),
    wake: ({ session }) => this.#after(session, this.sessions.wake(session)),
    fork: (input, context) => this.lifecycle.fork(input, context),
    rewind: (input, context) => this.lifecycle.rewind(input, context),
  };

  async #after(session: string, done: Promise<unknown>): Promise<SessionSummary> {
    await done;
    return this.sessions.summary(session);
  }

  /** Waits until the session has ended or needs the user, the time is over, or there are enough events. */
  async #wait(
    { session, after, seconds, limit }: CommandInput<'wait'>,
    { signal, onEvent }: CommandContext,
  ): Promise<CommandOutput<'wait'>> {
    const time = timeLimit(seconds * 1_000, signal);
    const events: Event[] = [];
    const known = await this.sessions.summary(session);
    const isOver = async (): Promise<boolean> =>
      events.length >= limit || isAtRest(await this.sessions.summary(session), events, after);
    if (!isAtRest(known, events, after)) {
      for await (const page of this.feed.follow(session, { after }, time)) {
        for (const event of page.slice(0, limit - events.length)) {
          events.push(event);
          onEvent?.(event);
        }
        if (await isOver()) break;
      }
    }
    if (signal?.aborted) throw new AppError('cancelled', 'The wait was cancelled.');
    return { session: await this.sessions.summary(session), events };
  }
}

/** Whether no further events come by themselves, and all events were read. */
function isAtRest(summary: SessionSummary, events: Event[], after: number): boolean {
  const { state, lastSeq } = summary;
  const rests = isEnded(state) || state === 'paused' || needsUser(summary);
  return rests && (events.at(-1)?.seq ?? after) >= lastSeq;
}
