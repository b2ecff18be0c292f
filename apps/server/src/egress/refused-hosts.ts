import type { ApprovalVerdict } from '@belay/protocol';
import type { ApprovalService } from '../approvals/approval.service.js';
import type { Target } from './policy.js';

/** How long a client is held while a person thinks; then it is refused, and the question stays. */
const patience = 60_000;
/** After this the question is withdrawn. */
const questionLife = 15 * 60_000;
/** A rejection holds this long before the same host is asked about again. */
const rejectionLife = 60_000;

type Ask = Pick<ApprovalService, 'request'>;

/** Asks a person about hosts that the policy refuses: once for each host, however many connections wait. */
export class RefusedHosts {
  private readonly questions = new Map<string, Promise<ApprovalVerdict>>();
  private readonly approved = new Set<string>();

  constructor(
    private readonly approvals: Ask,
    private readonly limits = { patience, questionLife, rejectionLife },
  ) {}

  /** Resolves with the verdict, or null when nobody answered in time. An approval counts for the session’s host from then on. */
  async ask(session: string, { host, port }: Target): Promise<ApprovalVerdict | null> {
    const subject = `${host}:${port}`;
    const key = `${session} ${subject}`;
    if (this.approved.has(key)) return { verdict: 'approved' };
    let question = this.questions.get(key);
    if (!question) {
      question = this.put(session, subject, { host, port });
      this.questions.set(key, question);
      void question.then(
        ({ verdict }) => this.settle(key, verdict),
        () => this.questions.delete(key),
      );
    }
    return within(question, this.limits.patience);
  }

  private put(session: string, subject: string, input: Target): Promise<ApprovalVerdict> {
    return this.approvals.request(
      session,
      { id: `egress:${subject}`, operation: 'egress', input, risk: 'network', subject },
      AbortSignal.timeout(this.limits.questionLife),
    );
  }

  private settle(key: string, verdict: ApprovalVerdict['verdict']): void {
    if (verdict === 'approved') {
      this.approved.add(key);
      this.questions.delete(key);
      return;
    }
    setTimeout(() => this.questions.delete(key), this.limits.rejectionLife).unref();
  }
}

function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
