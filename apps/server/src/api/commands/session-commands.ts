import { Injectable } from '@nestjs/common';
import {
  AppError,
  faultOf,
  isEnded,
  isSessionCommand,
  sessionCommands,
  type Event,
  type InstalledOperation,
  type SessionCommandInput,
  type SessionCommandName,
  type SessionSummary,
} from '@belay/protocol';
import { AuditLog } from '../../access/audit-log.js';
import { assertMay, type Caller } from '../../access/caller.js';
import { ApprovalService } from '../../approvals/approval.service.js';
import { SessionCreation } from '../../sessions/session-creation.js';
import { SessionService } from '../../sessions/session.service.js';
import { EventFeed } from '../../sessions/event-feed.js';
import { OperationCalls } from './operation-calls.js';

export interface CommandCall {
  name: string;
  input: unknown;
  signal: AbortSignal;
  /** The id that the call of an operation has in the log, or that a new session gets. */
  id?: string;
  /** Called with each event that a wait sees. */
  onEvent?: (event: Event) => void;
}

type Handlers = {
  [N in SessionCommandName]: (
    input: SessionCommandInput<N>,
    call: CommandCall & { caller: Caller; begun(session: SessionSummary): void },
  ) => Promise<unknown>;
};

/** The commands of the APIs that are no REST, each on the services that the controllers call. */
@Injectable()
export class SessionCommands {
  constructor(
    private readonly sessions: SessionService,
    private readonly creation: SessionCreation,
    private readonly approvals: ApprovalService,
    private readonly operations: OperationCalls,
    private readonly feed: EventFeed,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Runs a command, or an operation, whose input then has the `session` beside its own fields; what is installed needs
   * none. Throws `AppError`.
   */
  async call(caller: Caller, call: CommandCall): Promise<unknown> {
    const { name } = call;
    return isSessionCommand(name)
      ? this.#command(caller, name, call)
      : this.operations.call(caller, call);
  }

  /** What is installed and can be called without a session, as it is now. */
  installed(): InstalledOperation[] {
    return this.operations.installed();
  }

  async #command<N extends SessionCommandName>(
    caller: Caller,
    name: N,
    call: CommandCall,
  ): Promise<unknown> {
    const { input, risk } = sessionCommands[name];
    const needed = risk === 'read' ? 'view' : 'operate';
    const check = (session?: string): void =>
      this.audit.refusals(caller, { action: name, session }, () =>
        assertMay(caller, needed, session),
      );
    check();
    const { data, error } = input.safeParse(call.input ?? {});
    if (error) throw new AppError('invalid_input', `${name}: ${faultOf(error)}.`);
    const session = 'session' in data ? String(data['session']) : undefined;
    if (session !== undefined) check(session);
    let made: SessionSummary | undefined;
    const noted = (summary: SessionSummary): void => void (made = summary);
    const run = (): Promise<unknown> =>
      this.#handlers[name](data as SessionCommandInput<N>, { ...call, caller, begun: noted });
    const begun = () => (made ? { session: made.id, subject: made.title } : {});
    return risk === 'read' ? run() : this.audit.run(caller, { action: name, session, begun }, run);
  }

  readonly #handlers: Handlers = {
    start: async ({ model, ...wanted }, { caller, id, begun }) => {
      const ready = model ?? (await this.creation.readyModel());
      const made = await this.creation.create({ ...wanted, model: ready }, caller, id);
      begun(made);
      return made;
    },
    list: async ({ archived, limit }, { caller }) => {
      const all = await this.sessions.list(caller);
      return { sessions: all.filter((one) => archived || !one.archived).slice(0, limit) };
    },
    status: ({ session }) => this.sessions.summary(session),
    events: async ({ session, after, limit }) => ({
      events: await this.sessions.events(session, { after, limit }),
    }),
    wait: (input, call) => this.#wait(input, call),
    message: async ({ session, ...message }, { caller }) => {
      await this.sessions.message(session, message, caller);
      return this.sessions.summary(session);
    },
    edit: ({ session, message, text }) =>
      this.#after(session, this.sessions.editMessage(session, message, text)),
    withdraw: ({ session, message }) =>
      this.#after(session, this.sessions.withdrawMessage(session, message)),
    answer: async ({ session, id, ...answer }, { caller }) => {
      await this.approvals.answer(session, { id, caller }, answer);
      return this.sessions.summary(session);
    },
    pause: ({ session }) => this.#after(session, this.sessions.pause(session)),
    resume: ({ session }) => this.#after(session, this.sessions.resume(session)),
    stop: ({ session }) => this.#after(session, this.sessions.stop(session)),
    restart: ({ session }) => this.#after(session, this.sessions.restart(session)),
  };

  async #after(session: string, done: Promise<void>): Promise<SessionSummary> {
    await done;
    return this.sessions.summary(session);
  }

  /** Until the session has ended or needs the user, the time is over or there are enough events. */
  async #wait(
    { session, after, seconds, limit }: SessionCommandInput<'wait'>,
    { signal, onEvent }: CommandCall,
  ): Promise<{ session: SessionSummary; events: Event[] }> {
    const time = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1_000)]);
    const events: Event[] = [];
    const known = await this.sessions.summary(session);
    const isOver = async (): Promise<boolean> =>
      events.length >= limit || restsOn(await this.sessions.summary(session), events, after);
    if (!restsOn(known, events, after)) {
      for await (const page of this.feed.follow(session, { after }, time)) {
        for (const event of page.slice(0, limit - events.length)) {
          events.push(event);
          onEvent?.(event);
        }
        if (await isOver()) break;
      }
    }
    if (signal.aborted) throw new AppError('cancelled', 'The wait was cancelled.');
    return { session: await this.sessions.summary(session), events };
  }
}

/** Whether nothing more comes by itself, and all that came was read. */
function restsOn(
  { state, question, waitingFor, lastSeq }: SessionSummary,
  events: Event[],
  after: number,
): boolean {
  const rests = isEnded(state) || state === 'paused' || question !== null || waitingFor.length > 0;
  return rests && (events.at(-1)?.seq ?? after) >= lastSeq;
}
