import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import {
  AppError,
  approvalDelayMs,
  hostQuestionPrefix,
  ignoreError,
  isCall,
  isEnded,
  isEvent,
  operationNamed,
  newEvent,
  rejectionBy,
  ruleMatches,
  subjectOf,
  type ApprovalAnswer,
  type ApprovalMode,
  type ApprovalRequest,
  type ApprovalVerdict,
  type Event,
  type NewEvent,
  type Rule,
  type SessionState,
  userCallPrefix,
} from '@belay/protocol';
import { assertMay, type Caller } from '../access/caller.js';
import { EventLog } from '../logs/event-log.js';
import { SessionsStore } from '../logs/sessions.store.js';
import { allowedBy, decisionByMode, needsPlan } from './decision-by-mode.js';
import { checkAnswer } from './check-answer.js';
import { RulesStore } from './rules.store.js';
import { verdictEvent, type Decision } from './verdict-event.js';

interface Waiting {
  request: ApprovalRequest;
  verdict: Promise<ApprovalVerdict>;
  settle: (verdict: ApprovalVerdict) => void;
}

const ruleReason = 'A rule rejects this call.';
/** The limit for open questions of one session, which applies to calls and to hosts separately. */
const maxOpenQuestions = 20;

/**
 * Decides whether a call may run: by a rule, by the session’s mode, or by the user. Only the server asks questions,
 * about calls in the log (`ApprovedCalls`) or connections (`RefusedHosts`). They and their answers are events, so a
 * question survives a restart of the server: the repeated request joins the pending one.
 */
@Injectable()
export class ApprovalService implements OnModuleInit, OnModuleDestroy {
  /** How long the mode `delay` holds a call back, in milliseconds. */
  delayMs = approvalDelayMs;
  readonly #waiting = new Map<string, Map<string, Waiting>>();
  #closing = false;

  constructor(
    private readonly log: EventLog,
    private readonly store: SessionsStore,
    private readonly rules: RulesStore,
  ) {}

  onModuleInit(): void {
    this.log.subscribeAll((session, events) => {
      const waiting = this.#waiting.get(session);
      if (!waiting) return;
      for (const event of events) this.#receive(waiting, event);
      for (const event of events) {
        const mode = isEvent(event, 'change') ? event.args.approvals : undefined;
        if (!mode) continue;
        void this.#decideWaiting(session, mode).catch(
          ignoreError('the calls go on waiting for the user'),
        );
      }
    });
  }

  onModuleDestroy(): void {
    this.#closing = true;
  }

  /**
   * Resolves with the verdict. A repeated request joins the pending one, or returns its verdict. Throws `limit_reached`
   * when too many questions are open, and `cancelled` after the session’s end.
   */
  async request(
    session: string,
    asked: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<ApprovalVerdict> {
    const joined = this.#waiting.get(session)?.get(asked.id);
    if (joined) return joined.verdict;
    const request = defined(asked);
    const open = [...(this.#waiting.get(session)?.keys() ?? [])];
    refuseTooMany(request, open);
    const waiting = this.#wait(session, request);
    try {
      await this.log.stalls.whenSpace(session, () => this.#ask(session, request, waiting), signal);
    } catch (error) {
      this.#forget(session, request.id);
      throw error;
    }
    const withdraw = (): void => void this.#withdraw(session, request.id);
    if (signal.aborted) withdraw();
    signal.addEventListener('abort', withdraw, { once: true });
    return waiting.verdict.finally(() => signal.removeEventListener('abort', withdraw));
  }

  /** The decision of a rule or the mode; undefined when the user would be asked. */
  async withoutAsking(
    session: string,
    asked: ApprovalRequest,
  ): Promise<ApprovalVerdict | undefined> {
    const { approvals } = await this.log.settings(session);
    const decision = await this.#decision(session, defined(asked), approvals);
    return typeof decision === 'string' ? undefined : decision.verdict;
  }

  /**
   * The decision of a rule or else the mode, or how the user decides. No rule allows what the mode `plan` refuses: none
   * stands in for the approval of a plan.
   */
  async #decision(
    session: string,
    request: ApprovalRequest,
    mode: ApprovalMode,
  ): Promise<Decision | 'ask' | 'delay'> {
    const rule = needsPlan(request, mode) ? undefined : await this.rules.decide(session, request);
    return rule ? byRule(rule) : decisionByMode(request, mode);
  }

  /** The user’s answer. Throws `not_found` when no such question is open. */
  async answer(
    session: string,
    { id: call, caller }: { id: string; caller: Caller },
    given: ApprovalAnswer,
  ): Promise<void> {
    const { verdict, reason, remember, edited } = given;
    assertMay(caller, 'operate', session);
    // A rule that applies beyond this session also affects other users.
    if (remember && remember.scope !== 'session') assertMay(caller, 'admin');
    if (remember ?? edited) checkAnswer(await this.#askedFor(session, call), given);
    await this.log.append(session, ({ waitingFor }) => {
      const held = this.#waiting.get(session)?.has(call) ?? false;
      if (!held && !waitingFor.some(({ id }) => id === call)) {
        throw new AppError('not_found', `There is no open question with the id ${call}.`);
      }
      const by = { kind: 'caller', id: caller.id, label: caller.label } as const;
      return [verdictEvent(call, { verdict: { verdict, reason, edited }, by })];
    });
    if (!remember) return;
    await this.#follow(session, await this.rules.create({ ...remember, session, verdict }));
  }

  /** The call that a question is about; undefined for one that is no longer open. */
  async #askedFor(session: string, call: string): Promise<ApprovalRequest | undefined> {
    const held = this.#waiting.get(session)?.get(call)?.request;
    if (held) return held;
    const { events } = await this.store.ofCall(session, call);
    return events.findLast((event) => isEvent(event, 'approval'))?.args;
  }

  /** Applies a rule made from one answer to the other open questions. */
  async #follow(session: string, rule: Rule): Promise<void> {
    const others = [...(this.#waiting.get(session)?.values() ?? [])]
      .filter(({ request }) => ruleMatches(rule, request))
      .map(({ request }) => verdictEvent(request.id, byRule(rule)));
    if (others.length > 0) await this.log.append(session, others);
  }

  /** Decides by a rule or the mode, or writes a question to the log. */
  async #ask(session: string, request: ApprovalRequest, waiting: Waiting): Promise<void> {
    const earlier = await this.#earlier(session, request);
    if (earlier && !isEvent(earlier, 'approval'))
      return this.#receive(new Map([[request.id, waiting]]), earlier);
    if (earlier && isEvent(earlier, 'approval')) {
      // The mode may have changed while nobody waited for the answer.
      await this.#decideWaiting(session, (await this.log.settings(session)).approvals);
      if (earlier.args.until) this.#runLater(session, request.id, earlier.args.until);
      return;
    }
    const { state } = await this.log.summary(session);
    if (isEnded(state)) throw new AppError('cancelled', `The session is ${state}.`);
    const { approvals } = await this.log.settings(session);
    const decision = await this.#decision(session, request, approvals);
    if (typeof decision === 'string') return this.#question(session, request, decision);
    // The connection is an event with its reason anyway, and the mode of its next attempt may be another one.
    if (request.operation === 'egress' && decision.by.kind === 'mode')
      return waiting.settle(decision.verdict);
    await this.log.append(session, [verdictEvent(request.id, decision)]);
  }

  async #question(session: string, request: ApprovalRequest, mode: 'ask' | 'delay'): Promise<void> {
    const what = [request.operation, request.subject].filter(Boolean).join(' ');
    const message = mode === 'ask' ? `May this run? ${what}` : `Runs in two seconds: ${what}`;
    const [asked] = await this.log.append(session, ({ state, waitingFor }) => {
      if (isEnded(state)) throw new AppError('cancelled', `The session is ${state}.`);
      const open = waitingFor.map(({ id }) => id);
      refuseTooMany(request, open);
      // From its event on, however long others were stored before it.
      const until = mode === 'delay' ? new Date(Date.now() + this.delayMs).toISOString() : null;
      const args = { ...request, mode, until };
      return [newEvent('server', 'approval', { args, message, id: request.id })];
    });
    if (asked && isEvent(asked, 'approval') && asked.args.until)
      this.#runLater(session, request.id, asked.args.until);
  }

  /** Decides the waiting calls that this mode allows or refuses, or that a rule made meanwhile decides. */
  async #decideWaiting(session: string, mode: ApprovalMode): Promise<void> {
    const verdicts = await this.#verdictsOf(session, mode);
    if (verdicts.length === 0) return;
    await this.log.append(session, ({ state }, { approvals }) =>
      // It may have changed again, and calls may have been answered.
      approvals !== mode || isEnded(state)
        ? []
        : verdicts.filter(({ id }) => this.#waiting.get(session)?.has(id ?? '')),
    );
  }

  async #verdictsOf(session: string, mode: ApprovalMode): Promise<NewEvent[]> {
    const verdicts: NewEvent[] = [];
    for (const { request } of this.#waiting.get(session)?.values() ?? []) {
      const decision = await this.#decision(session, request, mode);
      if (typeof decision === 'string') continue;
      // A rejected host would stay rejected for a while after the plan was approved.
      const { verdict, by } = decision;
      const isRejected = by.kind === 'mode' && verdict.verdict === 'rejected';
      if (isRejected && request.operation === 'egress') continue;
      verdicts.push(verdictEvent(request.id, decision));
    }
    return verdicts;
  }

  /** A paused session delays the call until it is resumed. */
  #runLater(session: string, call: string, until: string): void {
    const wait = Math.max(0, new Date(until).getTime() - Date.now());
    setTimeout(() => {
      if (this.#closing || !this.#waiting.get(session)?.has(call)) return;
      void this.log
        .append(session, ({ state }, { approvals }) => {
          const held = this.#waiting.get(session)?.get(call);
          if (!held || isHeld(call, state) || isEnded(state)) return [];
          // The mode may have changed since.
          const decision = decisionByMode(held.request, approvals);
          return [
            verdictEvent(call, typeof decision === 'string' ? allowedBy(approvals) : decision),
          ];
        })
        .then((events) => {
          const isHeldBack = events.length === 0 && this.#waiting.get(session)?.has(call);
          if (isHeldBack) this.#runLater(session, call, new Date(Date.now() + 200).toISOString());
        })
        .catch(ignoreError('the call goes on waiting for the user'));
    }, wait).unref();
  }

  #receive(waiting: Map<string, Waiting>, event: Event): void {
    if (isEvent(event, 'approve')) {
      const { edited } = event.args;
      waiting.get(event.id ?? '')?.settle({ verdict: 'approved', ...(edited && { edited }) });
    } else if (isEvent(event, 'reject')) {
      waiting.get(event.id ?? '')?.settle(rejectionBy(event.args));
    } else if (isEvent(event, 'state') && isEnded(event.args.state)) {
      const reason = `The session is ${event.args.state}.`;
      for (const each of waiting.values())
        each.settle({ verdict: 'rejected', reason, by: 'server' });
    }
  }

  #wait(session: string, request: ApprovalRequest): Waiting {
    const { promise: verdict, resolve } = Promise.withResolvers<ApprovalVerdict>();
    const settle = (decided: ApprovalVerdict): void => {
      this.#forget(session, request.id);
      resolve(decided);
    };
    const waiting = { request, verdict, settle };
    const all = this.#waiting.get(session) ?? new Map<string, Waiting>();
    this.#waiting.set(session, all.set(request.id, waiting));
    return waiting;
  }

  #forget(session: string, call: string): void {
    const all = this.#waiting.get(session);
    all?.delete(call);
    if (all?.size === 0) this.#waiting.delete(session);
  }

  /** Withdraws the question of a cancelled call. Shutdown withdraws none, because the agent asks again. */
  async #withdraw(session: string, call: string): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#closing || !this.#waiting.get(session)?.has(call)) return;
    const reason = 'The call was withdrawn.';
    const rejected = { verdict: 'rejected', reason, by: 'server' } as const;
    await this.log
      .append(session, ({ state }) =>
        isEnded(state) ? [] : [verdictEvent(call, { verdict: rejected, by: { kind: 'server' } })],
      )
      .catch(ignoreError('the call is settled here all the same'));
    this.#waiting.get(session)?.get(call)?.settle(rejected);
  }

  /** The address that the session’s browser showed last, which calls about its page are about. */
  async page(session: string): Promise<string | null> {
    const shown = await this.store.latest(session, 'browser');
    return shown && isEvent(shown, 'browser') ? shown.args.url : null;
  }

  /** The state of this call in the log: its verdict, or its pending question. */
  async #earlier(session: string, { id, operation }: ApprovalRequest): Promise<Event | undefined> {
    const { events } = await this.store.ofCall(session, id);
    if (events.some(({ action }) => isCall(action) && action !== operation)) {
      throw new AppError('forbidden', 'The id of this request belongs to another call.');
    }
    const last = events.findLast(({ action }) =>
      ['approval', 'approve', 'reject'].includes(action),
    );
    const started = last && (await this.store.latest(session, 'start'));
    return last && last.seq > (started?.seq ?? 0) ? last : undefined;
  }
}

/**
 * Risk and subject come from the definition of the operation, so the user decides on what actually runs. For a tool or
 * an action, they come from the session’s own definition, which the request was made from.
 */
function defined(asked: ApprovalRequest): ApprovalRequest {
  const operation = operationNamed(asked.operation);
  if (!operation) return asked;
  const subject = subjectOf(asked.operation, asked.input) || asked.subject;
  return { ...asked, risk: operation.risk, subject };
}

const byRule = ({ id, verdict }: Rule): Decision => ({
  verdict: { verdict, reason: ruleReason, by: 'rule' },
  by: { kind: 'rule', rule: id },
});

/** Questions about hosts and about calls are counted separately, so that neither can crowd out the other. */
function refuseTooMany({ id }: ApprovalRequest, open: readonly string[]): void {
  const isHost = id.startsWith(hostQuestionPrefix);
  const alike = open.filter((other) => other.startsWith(hostQuestionPrefix) === isHost);
  if (alike.length < maxOpenQuestions) return;
  throw new AppError(
    'limit_reached',
    `${maxOpenQuestions} questions of this session are already waiting for the user. Wait for their answers first.`,
  );
}

/** A pause holds back the agent’s calls, but not those of users. */
const isHeld = (call: string, state: SessionState): boolean =>
  state === 'paused' && !call.startsWith(userCallPrefix);
