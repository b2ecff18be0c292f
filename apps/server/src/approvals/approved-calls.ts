import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  AppError,
  isEnded,
  isEvent,
  permissionWords,
  programCallPrefix,
  rejectionOf,
  type ApprovalRequest,
  type ApprovalVerdict,
} from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';
import { whileWorking } from '../logs/while-working.js';
import { lease } from '../storage/lease.js';
import { ApprovalService } from './approval.service.js';
import { LoggedCalls, type LoggedCall } from './logged-calls.js';
import { refuseRepetition } from './refuse-repetition.js';

/** A call that may run, with everything that is known about it. */
export type ApprovedCall = LoggedCall;

interface Run<T> {
  signal: AbortSignal;
  work(call: ApprovedCall, signal: AbortSignal): Promise<T>;
}

/**
 * Approves agents’ calls and runs the server’s part of them. Each approval belongs to one logged call, which uses it
 * up.
 */
@Injectable()
export class ApprovedCalls implements OnModuleInit {
  /** Unfinished calls that the server has begun to run, by session. */
  readonly #begun = new Map<string, Set<string>>();

  constructor(
    private readonly log: EventLog,
    private readonly calls: LoggedCalls,
    private readonly approvals: ApprovalService,
  ) {}

  onModuleInit(): void {
    this.log.subscribeAll((session, events) => {
      const begun = this.#begun.get(session);
      for (const event of begun ? events : []) {
        if (isEvent(event, 'result')) begun?.delete(event.id ?? '');
        if (isEvent(event, 'state') && isEnded(event.args.state)) begun?.clear();
      }
      if (begun?.size === 0) this.#begun.delete(session);
    });
  }

  /** Whether a logged call may run. Throws what `LoggedCalls.open` throws. */
  async verdict(session: string, id: string, signal: AbortSignal): Promise<ApprovalVerdict> {
    return this.#decide(session, await this.calls.open(session, id), signal);
  }

  /**
   * Runs a logged call once, when it is approved and the session is working. Throws what `verdict` and `work` throw,
   * `rejected` with the reason, `cancelled` after the session’s end, and `conflict` for a second run. Unless a call is
   * harmless, it is `cancelled` when an earlier server may have run it.
   */
  async runOnce<T>(
    session: string,
    id: string,
    { isHarmless = false, ...run }: Run<T> & { isHarmless?: boolean },
  ): Promise<T> {
    const isEarlier = (seq: number) => this.log.isEarlier(session, seq);
    if (!isHarmless) refuseRepetition(await this.calls.open(session, id), isEarlier);
    return this.run(session, id, {
      ...run,
      work: (call, signal) => {
        const begun = this.#begun.get(session) ?? new Set();
        if (begun.has(id)) throw new AppError('conflict', `The call ${id} has already started.`);
        this.#begun.set(session, begun.add(id));
        return run.work(call, signal);
      },
    });
  }

  /** Like `runOnce`, for work that may be repeated while the call is in progress. */
  async run<T>(session: string, id: string, { signal, work }: Run<T>): Promise<T> {
    const call = await this.calls.open(session, id);
    // A user’s own call needs no approval, even after the session’s end.
    if (call.source === 'user') return work(call, signal);
    const decision = await this.#decide(session, call, signal);
    if (decision.verdict === 'rejected') throw rejectionOf(decision);
    const begin = async (ending: AbortSignal): Promise<T> => {
      // The call may have ended, or its agent been replaced, while the question was open.
      await this.calls.open(session, id);
      lease.assertHeld();
      return work(call, ending);
    };
    return whileWorking(this.log, session, { signal, inPause: 'wait', work: begin });
  }

  async #decide(session: string, call: LoggedCall, signal: AbortSignal): Promise<ApprovalVerdict> {
    if (call.source === 'user') return { verdict: 'approved' };
    return this.approvals.request(session, await this.#question(session, call), signal);
  }

  /** Made from the definition and the log. */
  async #question(session: string, call: LoggedCall): Promise<ApprovalRequest> {
    const { id, operation, input, action } = call;
    const page = await this.approvals.page(session);
    const subject = operation.subject(operation.input.parse(input), { page });
    const about = action && `The action ${permissionWords(action.permissions)}.`;
    const { name, risk } = operation;
    const fixed = id.startsWith(programCallPrefix);
    return {
      id,
      operation: name,
      input,
      risk,
      subject,
      ...(about && { about }),
      ...(fixed && { fixed }),
    };
  }
}
