import { hostQuestionPrefix, isEvent, type ApprovalVerdict } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { ApprovalService } from '../approvals/approval.service.js';
import type { SessionsStore } from '../logs/sessions.store.js';
import type { EgressTarget } from './policy.js';

export interface HostQuestionTimeouts {
  /** How long a client waits for the user. It is then refused, and the question stays open. */
  clientTimeoutMs: number;
  /** After this the question is withdrawn. */
  questionTimeoutMs: number;
  /** How long the user’s rejection applies before the same host is asked about again. */
  rejectionTimeoutMs: number;
}

const defaultTimeouts: HostQuestionTimeouts = {
  clientTimeoutMs: 60_000,
  questionTimeoutMs: 15 * 60_000,
  rejectionTimeoutMs: 10 * 60_000,
};

/** Asks about hosts that the policy refuses: one question per host, however many connections wait for it. */
export class RefusedHosts {
  readonly #open = new Map<string, Promise<ApprovalVerdict>>();
  /** The log keeps the verdict for each question id, so a new question needs a new number: at least these. */
  readonly #numbers = new Map<string, number>();

  constructor(
    private readonly approvals: Pick<ApprovalService, 'request'>,
    private readonly store: Pick<SessionsStore, 'latest' | 'ofCall'>,
    private readonly timeouts: HostQuestionTimeouts = defaultTimeouts,
  ) {}

  /** Resolves with the verdict, or null after the timeout. An approval lasts until the session is restarted. */
  async ask(session: string, target: EgressTarget): Promise<ApprovalVerdict | null> {
    const key = JSON.stringify([session, target.host, target.port]);
    let question = this.#open.get(key);
    if (!question) {
      question = this.#put(session, target, key).finally(() => this.#open.delete(key));
      this.#open.set(key, question);
    }
    return inTime(question, this.timeouts.clientTimeoutMs, () => null);
  }

  async #put(session: string, input: EgressTarget, key: string): Promise<ApprovalVerdict> {
    const subject = `${input.host}:${input.port}`;
    let number = this.#numbers.get(key) ?? 1;
    while (await this.#isPast(session, idOf(subject, number))) number += 1;
    if (number > 1) this.#numbers.set(key, number);
    const id = idOf(subject, number);
    const life = AbortSignal.timeout(this.timeouts.questionTimeoutMs);
    const request = { id, operation: 'egress', input, risk: 'network', subject } as const;
    return this.approvals.request(session, request, life);
  }

  /**
   * Whether the log has a question with this id that no longer counts: withdrawn, rejected long ago, or of before the
   * session’s last start. An earlier process of the server, or another server, may have put it.
   */
  async #isPast(session: string, id: string): Promise<boolean> {
    const { events } = await this.store.ofCall(session, id);
    const last = events.at(-1);
    if (!last) return false;
    const start = await this.store.latest(session, 'start');
    if (start && last.seq < start.seq) return true;
    if (!isEvent(last, 'reject')) return false;
    const isWithdrawn = last.args.by?.kind === 'server';
    return isWithdrawn || Date.parse(last.time) + this.timeouts.rejectionTimeoutMs <= Date.now();
  }
}

const idOf = (subject: string, number: number): string =>
  `${hostQuestionPrefix}${subject}${number === 1 ? '' : `#${number}`}`;
