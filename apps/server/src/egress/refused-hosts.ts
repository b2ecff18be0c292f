import type { ApprovalVerdict } from '@belay/protocol';
import type { ApprovalService } from '../approvals/approval.service.js';
import type { Target } from './policy.js';

export interface Patience {
  /** How long a client is held while a person thinks; then it is refused, and the question stays. */
  client: number;
  /** After this the question is withdrawn. */
  question: number;
  /** How long a person's no counts before the same host is asked about again. */
  rejection: number;
}

const usual: Patience = { client: 60_000, question: 15 * 60_000, rejection: 10 * 60_000 };

/** Asks about hosts that the policy refuses: one question for a host, however many connections wait for it. */
export class RefusedHosts {
  private readonly open = new Map<string, Promise<ApprovalVerdict>>();
  /** The log keeps the verdict of a question by its id; a new number makes a new question. */
  private readonly numbers = new Map<string, { number: number; until: number }>();

  constructor(
    private readonly approvals: Pick<ApprovalService, 'request'>,
    private readonly patience: Patience = usual,
  ) {}

  /** Resolves with the verdict, or null when nobody answered in time. A yes counts until the session starts again. */
  async ask(session: string, target: Target): Promise<ApprovalVerdict | null> {
    const key = JSON.stringify([session, target.host, target.port]);
    let question = this.open.get(key);
    if (!question) {
      question = this.put(session, target, key).finally(() => this.open.delete(key));
      this.open.set(key, question);
    }
    return within(question, this.patience.client);
  }

  private async put(session: string, input: Target, key: string): Promise<ApprovalVerdict> {
    const subject = `${input.host}:${input.port}`;
    const number = this.numberOf(key);
    const id = number === 1 ? `egress:${subject}` : `egress:${subject}#${number}`;
    const life = AbortSignal.timeout(this.patience.question);
    const request = { id, operation: 'egress', input, risk: 'network', subject } as const;
    const answer = await this.approvals.request(session, request, life);
    if (answer.verdict === 'rejected') this.remember(key, number, life.aborted);
    return answer;
  }

  private numberOf(key: string): number {
    const last = this.numbers.get(key);
    if (!last) return 1;
    return Date.now() < last.until ? last.number : last.number + 1;
  }

  private remember(key: string, number: number, withdrawn: boolean): void {
    const known = this.numbers.get(key);
    if (known?.number === number && !withdrawn) return;
    this.numbers.set(key, { number, until: withdrawn ? 0 : Date.now() + this.patience.rejection });
  }
}

function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), milliseconds);
    void promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
