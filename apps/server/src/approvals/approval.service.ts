import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import {
  AppError,
  approvalDelay,
  fact,
  isEnded,
  isFact,
  mcpToolNamed,
  operationNamed,
  type ApprovalAnswer,
  type ApprovalMode,
  type ApprovalRequest,
  type ApprovalVerdict,
  type Event,
  type NewEvent,
} from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';
import { SessionStore } from '../logs/session.store.js';
import { subjectOf } from '../logs/subject.js';
import { RulesStore } from './rules.store.js';

interface Waiting {
  request: ApprovalRequest;
  verdict: Promise<ApprovalVerdict>;
  settle: (verdict: ApprovalVerdict) => void;
}

/**
 * Decides whether a call may run: by a rule, by the session's mode, or by a person. Questions and answers are
 * events, so that a question outlives the server: the agent asks it again and joins the one that waits.
 */
@Injectable()
export class ApprovalService implements OnModuleInit, OnModuleDestroy {
  private readonly waiting = new Map<string, Map<string, Waiting>>();
  private closing = false;

  constructor(
    private readonly log: EventLog,
    private readonly store: SessionStore,
    private readonly rules: RulesStore,
  ) {}

  onModuleInit(): void {
    this.log.subscribeAll((session, events) => {
      const waiting = this.waiting.get(session);
      if (!waiting) return;
      for (const event of events) this.hear(waiting, event);
      const turnsAuto = events.some(
        (event) => isFact(event, 'change') && event.args.approvals === 'auto',
      );
      if (turnsAuto) void this.releaseWaiting(session);
    });
  }

  onModuleDestroy(): void {
    this.closing = true;
  }

  /** Answers when it is decided. The same request asked again joins the one that waits, or gets its verdict. */
  async request(
    session: string,
    asked: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<ApprovalVerdict> {
    const joined = this.waiting.get(session)?.get(asked.id);
    if (joined) return joined.verdict;
    const request = known(asked);
    const waiting = this.wait(session, request);
    try {
      await this.log.stalls.whenRoom(session, () => this.ask(session, request, waiting), signal);
    } catch (error) {
      this.forget(session, request.id);
      throw error;
    }
    const withdraw = (): void => void this.withdraw(session, request.id);
    if (signal.aborted) withdraw();
    signal.addEventListener('abort', withdraw, { once: true });
    try {
      return await waiting.verdict;
    } finally {
      signal.removeEventListener('abort', withdraw);
    }
  }

  /** A person's answer; `not_found` when no such question waits. */
  async answer(session: string, call: string, answer: ApprovalAnswer): Promise<void> {
    const { verdict, reason, remember } = answer;
    await this.log.append(session, ({ waitingFor }) => {
      const held = this.waiting.get(session)?.has(call) ?? false;
      if (!held && !waitingFor.some(({ id }) => id === call)) {
        throw new AppError('not_found', `No question with the id ${call} waits for an answer.`);
      }
      return [verdictFact('user', call, { verdict, reason })];
    });
    if (remember) await this.rules.create({ ...remember, session, verdict });
  }

  /** Settles by a rule or the mode, or leaves a question in the log. */
  private async ask(session: string, request: ApprovalRequest, waiting: Waiting): Promise<void> {
    const earlier = await this.earlier(session, request);
    if (earlier && !isFact(earlier, 'approval'))
      return this.hear(new Map([[request.id, waiting]]), earlier);
    if (earlier && isFact(earlier, 'approval')) {
      if (earlier.args.until) this.runLater(session, request.id, earlier.args.until);
      return;
    }
    const rule = await this.rules.decide(session, request);
    if (rule) {
      const verdict = { verdict: rule.verdict, reason: 'A rule rejects this call.' };
      await this.log.append(session, [verdictFact('server', request.id, verdict, rule.id)]);
      return;
    }
    const { approvals } = await this.log.settings(session);
    const way = wayOf(request, approvals);
    if (way === 'run') return waiting.settle({ verdict: 'approved' });
    if (way === 'refuse') {
      const reason = `Nobody is asked in the mode auto: allow ${request.subject} with a rule.`;
      return waiting.settle({ verdict: 'rejected', reason });
    }
    await this.question(session, request, way);
  }

  private async question(
    session: string,
    request: ApprovalRequest,
    mode: 'ask' | 'delay',
  ): Promise<void> {
    const until = mode === 'delay' ? new Date(Date.now() + approvalDelay).toISOString() : null;
    const what = [request.operation, request.subject].filter(Boolean).join(' ');
    const message = mode === 'ask' ? `May this run? ${what}` : `Runs in two seconds: ${what}`;
    await this.log.append(session, ({ state }) => {
      if (isEnded(state)) throw new AppError('cancelled', `The session is ${state}.`);
      const args = { ...request, mode, until };
      return [fact('server', 'approval', { args, message, id: request.id })];
    });
    if (until) this.runLater(session, request.id, until);
  }

  /** Who turns the session to `auto` means the calls that wait, too. */
  private async releaseWaiting(session: string): Promise<void> {
    const calls = [...(this.waiting.get(session)?.values() ?? [])]
      .filter(({ request }) => wayOf(request, 'auto') === 'run')
      .map(({ request }) => verdictFact('server', request.id, { verdict: 'approved' }));
    await this.log.append(session, calls).catch(() => undefined);
  }

  /** A paused session holds the call until it goes on. */
  private runLater(session: string, call: string, until: string): void {
    const wait = Math.max(0, new Date(until).getTime() - Date.now());
    setTimeout(() => {
      if (this.closing || !this.waiting.get(session)?.has(call)) return;
      void this.log
        .append(session, ({ state }) =>
          this.waiting.get(session)?.has(call) && state !== 'paused' && !isEnded(state)
            ? [verdictFact('server', call, { verdict: 'approved' })]
            : [],
        )
        .then((events) => {
          const isHeld = events.length === 0 && this.waiting.get(session)?.has(call);
          if (isHeld) this.runLater(session, call, new Date(Date.now() + 200).toISOString());
        })
        .catch(() => undefined);
    }, wait).unref();
  }

  private hear(waiting: Map<string, Waiting>, event: Event): void {
    if (isFact(event, 'approve')) waiting.get(event.id ?? '')?.settle({ verdict: 'approved' });
    else if (isFact(event, 'reject')) {
      const { reason } = event.args;
      waiting.get(event.id ?? '')?.settle({ verdict: 'rejected', ...(reason && { reason }) });
    } else if (isFact(event, 'state') && isEnded(event.args.state)) {
      const reason = `The session is ${event.args.state}.`;
      for (const each of waiting.values()) each.settle({ verdict: 'rejected', reason });
    }
  }

  private wait(session: string, request: ApprovalRequest): Waiting {
    const { promise: verdict, resolve } = Promise.withResolvers<ApprovalVerdict>();
    const settle = (decided: ApprovalVerdict): void => {
      this.forget(session, request.id);
      resolve(decided);
    };
    const waiting = { request, verdict, settle };
    const all = this.waiting.get(session) ?? new Map<string, Waiting>();
    this.waiting.set(session, all.set(request.id, waiting));
    return waiting;
  }

  private forget(session: string, call: string): void {
    const all = this.waiting.get(session);
    all?.delete(call);
    if (all?.size === 0) this.waiting.delete(session);
  }

  /** The call is not wanted any more. At the server's own end nothing is withdrawn: the agent asks again. */
  private async withdraw(session: string, call: string): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.closing || !this.waiting.get(session)?.has(call)) return;
    const rejected = { verdict: 'rejected' as const, reason: 'The call was withdrawn.' };
    await this.log
      .append(session, ({ state }) =>
        isEnded(state) ? [] : [verdictFact('server', call, rejected)],
      )
      .catch(() => undefined);
    this.waiting.get(session)?.get(call)?.settle(rejected);
  }

  /** What the log says of this call already: its verdict, or the question that waits. */
  private async earlier(
    session: string,
    { id, operation }: ApprovalRequest,
  ): Promise<Event | undefined> {
    const events = await this.store.ofCall(session, id);
    if (events.some(({ action }) => mcpToolNamed(action) && action !== operation)) {
      throw new AppError('forbidden', 'An answer to this would be taken for one to another call.');
    }
    const last = events.findLast(({ action }) =>
      ['approval', 'approve', 'reject'].includes(action),
    );
    const started = last && (await this.store.latest(session, 'start'));
    return last && last.seq > (started?.seq ?? 0) ? last : undefined;
  }
}

/** The server reads risk and subject from its own definitions: what is shown is what is decided. */
function known(asked: ApprovalRequest): ApprovalRequest {
  const operation = operationNamed(asked.operation);
  if (!operation) return asked;
  return {
    ...asked,
    risk: operation.risk,
    subject: subjectOf(asked.operation, asked.input) || asked.subject,
  };
}

/** `localhost` is the sandbox itself: what goes there goes nowhere. */
const staysInside = (subject: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]):\d+$/.test(subject);

/** Reading and writing in the sandbox runs; a host outside the policy is never opened without a person. */
function wayOf(
  { operation, risk, subject }: ApprovalRequest,
  mode: ApprovalMode,
): 'run' | 'refuse' | 'ask' | 'delay' {
  if (operation === 'egress') return mode === 'auto' ? 'refuse' : 'ask';
  if (risk === 'network' && staysInside(subject)) return 'run';
  if (risk === 'read' || risk === 'write' || mode === 'auto') return 'run';
  return mode;
}

function verdictFact(
  source: 'user' | 'server',
  id: string,
  { verdict, reason }: ApprovalVerdict,
  rule: string | null = null,
): NewEvent {
  const by = rule ? ' by a rule' : '';
  if (verdict === 'approved') {
    return fact(source, 'approve', { args: { rule }, message: `Approved${by}.`, id });
  }
  const args = { reason: reason ?? '', rule };
  const message = reason ? `Rejected${by}: ${reason}` : `Rejected${by}.`;
  return fact(source, 'reject', { args, message, id });
}
