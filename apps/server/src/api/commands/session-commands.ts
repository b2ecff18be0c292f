import { Injectable } from '@nestjs/common';
import {
  AppError,
  commandAction,
  idsOf,
  isEnded,
  isSessionCommand,
  needsUser,
  sessionCommands,
  type CommandInput,
  type CommandOutput,
  type Event,
  type InstalledOperation,
  type SessionCommand,
  type SessionCommandName,
  type SessionSummary,
} from '@belay/protocol';
import { timeLimit } from '@belay/rpc';
import { AuditLog, type AuditedWork } from '../../access/audit-log.js';
import { assertMay, type Caller } from '../../access/caller.js';
import { ApprovalService } from '../../approvals/approval.service.js';
import { SessionService } from '../../sessions/session.service.js';
import { parsedInput } from '../../parsed-input.js';
import { EventFeed } from '../../sessions/feed/event-feed.js';
import type { CommandContext, CommandHandlers } from './command-handlers.js';
import { LifecycleCommands } from './lifecycle-commands.js';
import { NamedCalls } from './named-calls.js';

export interface CommandCall<N extends string = string> extends Omit<
  CommandContext,
  'caller' | 'made'
> {
  name: N;
  input: unknown;
  signal: AbortSignal;
}

/**
 * Users’ commands on sessions, for every API: maps each command of the protocol to the service that carries it out.
 */
@Injectable()
export class SessionCommands {
  constructor(
    private readonly sessions: SessionService,
    private readonly lifecycle: LifecycleCommands,
    private readonly approvals: ApprovalService,
    private readonly operations: NamedCalls,
    private readonly feed: EventFeed,
    private readonly audit: AuditLog,
  ) {}

  /** Runs a command with parsed input; access checks and the audit log are up to the calling code. */
  run<N extends SessionCommandName>(
    name: N,
    input: CommandInput<N>,
    context: CommandContext,
  ): Promise<CommandOutput<N>> {
    return this.#handlers[name](input, context);
  }

  /**
   * Checks, parses, audits and runs a command, or an operation with `session` as an additional input field; installed
   * operations need no session. Throws `AppError`.
   */
  call<N extends SessionCommandName>(
    caller: Caller,
    call: CommandCall<N>,
  ): Promise<CommandOutput<N>>;
  call(caller: Caller, call: CommandCall): Promise<unknown>;
  async call(caller: Caller, call: CommandCall): Promise<unknown> {
    const { name } = call;
    return isSessionCommand(name)
      ? this.#checked(caller, name, call)
      : this.operations.call(caller, call);
  }

  /** Installed operations that the caller can call without a session now. */
  installed(caller: Caller): InstalledOperation[] {
    return this.operations.installed(caller);
  }

  async #checked(caller: Caller, name: SessionCommandName, call: CommandCall): Promise<unknown> {
    const command: SessionCommand = sessionCommands[name];
    const action = commandAction(name);
    const check = (session?: string): void =>
      this.audit.refusals(caller, { action, session }, () =>
        assertMay(caller, command.scope, session),
      );
    check();
    const data = parsedInput(name, command.input, call.input ?? {});
    const [session, ...others] = idsOf(command).map((id) => String(data[id]));
    if (session !== undefined) check(session);
    let about: ReturnType<NonNullable<AuditedWork['made']>> = {};
    const made = (what: typeof about): void => void (about = what);
    const run = (): Promise<unknown> =>
      this.run(name, data as CommandInput<typeof name>, { ...call, caller, made });
    if (command.scope === 'view') return run();
    const work = { action, session, subject: others.join(' '), made: () => about };
    return this.audit.run(caller, work, run);
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
