import { hostQuestionPrefix, type ApprovalVerdict } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { ApprovalService } from '../approvals/approval.service.js';
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
  /** The log keeps the verdict for each question id, so a new question needs a new number. */
  readonly #numbers = new Map<string, { number: number; until: number }>();

  constructor(
    private readonly approvals: Pick<ApprovalService, 'request'>,
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
    const number = this.#numberOf(key);
    const id = `${hostQuestionPrefix}${subject}${number === 1 ? '' : `#${number}`}`;
    const life = AbortSignal.timeout(this.timeouts.questionTimeoutMs);
    const request = { id, operation: 'egress', input, risk: 'network', subject } as const;
    const answer = await this.approvals.request(session, request, life);
    if (answer.verdict === 'rejected') this.#remember(key, number, life.aborted);
    return answer;
  }

  #numberOf(key: string): number {
    const last = this.#numbers.get(key);
    if (!last) return 1;
    return Date.now() < last.until ? last.number : last.number + 1;
  }

  #remember(key: string, number: number, withdrawn: boolean): void {
    const known = this.#numbers.get(key);
    if (known?.number === number && !withdrawn) return;
    this.#numbers.set(key, {
      number,
      until: withdrawn ? 0 : Date.now() + this.timeouts.rejectionTimeoutMs,
    });
  }
}
