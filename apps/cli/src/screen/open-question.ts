import type { ApprovalRequest, SessionSummary } from '@belay/protocol';

/** How long a question must be visible before a key answers it; an earlier key was meant for something else. */
const readingMs = 700;

/** A session’s first question, and since when it is shown. */
export class OpenQuestion {
  #key = '';
  #since = Number.NEGATIVE_INFINITY;
  #request: ApprovalRequest | undefined;
  #question: string | null = null;

  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  see({ waitingFor, question }: Pick<SessionSummary, 'waitingFor' | 'question'>): void {
    [this.#request] = waitingFor;
    this.#question = question;
    const key = this.#request
      ? `call ${this.#request.id}`
      : question === null
        ? ''
        : `? ${question}`;
    if (key !== this.#key) this.#since = this.#now();
    this.#key = key;
  }

  /** The call that waits for approval. */
  get request(): ApprovalRequest | undefined {
    return this.#request;
  }

  get question(): string | null {
    return this.#question;
  }

  get mayAnswer(): boolean {
    return this.#now() - this.#since > readingMs;
  }
}
