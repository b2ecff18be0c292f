import {
  callOf,
  errorFrom,
  isEvent,
  type ApprovalAnswer,
  type ApprovalRequest,
  type Event,
  type EventArgs,
  type SessionState,
  type SessionSummary,
} from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { Mutex } from 'async-mutex';
import { singleLine } from './output.js';
import { InputClosed, type TerminalUser } from './terminal-user.js';

interface QuestionedSession {
  id: string;
  client: BelayClient;
  user: TerminalUser | undefined;
}

interface QuestionHandlers {
  /** There is a question, but no terminal to ask at. */
  unanswerable(what: string): void;
  /** The model cannot be called until the user acts, and there is no terminal to ask at. */
  unusable(why: string): void;
  failed(error: unknown): void;
  /** A question has been opened or closed. */
  asking?(open: boolean): void;
}

interface Question {
  /** Asks the user, and sends the answer. */
  put(signal: AbortSignal): Promise<void>;
  /** The user closed the input; undefined for a question that may stay unanswered. */
  unanswered?: () => void;
}

/** Asks the questions of one session one after the other; an answer given elsewhere withdraws a question. */
export class Questions {
  readonly #open = new Map<string, AbortController>();
  /** One question at a time. */
  readonly #mutex = new Mutex();

  /** The last error, until the session’s next state. */
  #error: string | undefined;
  readonly #session: QuestionedSession;
  readonly #handlers: QuestionHandlers;

  constructor(session: QuestionedSession, handlers: QuestionHandlers) {
    this.#session = session;
    this.#handlers = handlers;
  }

  /** Asks the open questions of a session that is being joined. */
  join(summary?: Pick<SessionSummary, 'waitingFor' | 'question' | 'modelError'>): void {
    for (const request of summary?.waitingFor ?? []) this.#approve(request);
    if (typeof summary?.question === 'string') this.#answer('ask', summary.question);
    if (summary?.modelError?.retryAt === null) this.#failedModel(summary.modelError.message);
  }

  see(event: Event): void {
    const question = callOf(event, 'ask');
    if (isEvent(event, 'approval') && event.args.mode === 'ask') this.#approve(event.args);
    else if (isEvent(event, 'approval') && event.args.mode === 'delay') this.#delayed(event.args);
    else if (question) this.#answer(event.id ?? 'ask', question.args.question);
    else if (event.action === 'approve' || event.action === 'reject') this.#withdraw(event.id);
    else if (event.action === 'message') this.#withdraw('ask', 'model');
    else if (event.action === 'resume') this.#withdraw('model');
    else if (isEvent(event, 'change')) this.#changed(event.args);
    else if (isEvent(event, 'error')) this.#error = event.args.message;
    else if (isEvent(event, 'state')) this.#entered(event.args.state);
    else if (isEvent(event, 'result')) this.#withdraw(event.id);
  }

  /** An error interrupts the work if the session then waits; otherwise it has ended the session. */
  #entered(state: SessionState): void {
    const error = this.#error;
    this.#error = undefined;
    if (state === 'waiting' && error !== undefined) this.#failedModel(error);
  }

  close(): void {
    for (const controller of this.#open.values()) controller.abort();
    this.#open.clear();
  }

  /** Only another model is a reason to try again. */
  #changed({ model }: EventArgs<'change'>): void {
    if (model !== undefined) this.#withdraw('model');
  }

  #approve(request: ApprovalRequest): void {
    const { user, client, id } = this.#session;
    const unanswered = () =>
      this.#handlers.unanswerable(`The session needs approval for ${request.operation}.`);
    if (!user) return unanswered();
    const put = async (signal: AbortSignal) => {
      const answer: ApprovalAnswer = await user.approve(request, signal);
      await client.sessions.answer(id, request.id, answer);
    };
    this.#ask(request.id, { put, unanswered });
  }

  /** The call runs without an answer, so nobody needs to be present, and a late refusal has no effect. */
  #delayed(request: ApprovalRequest): void {
    const { user, client, id } = this.#session;
    if (!user) return;
    const put = async (signal: AbortSignal) => {
      const answer = await user.refuse(request, signal);
      await client.sessions.answer(id, request.id, answer);
    };
    this.#ask(request.id, { put });
  }

  #answer(key: string, question: string): void {
    const what = `The session asks: ${singleLine(question, 400)}`;
    this.#write(key, question, () => this.#handlers.unanswerable(what));
  }

  #failedModel(why: string): void {
    const question = `${singleLine(why, 400)} Write to the agent to try again`;
    this.#write('model', question, () => this.#handlers.unusable(why));
  }

  /** Sends the user’s answer as a message. */
  #write(key: string, question: string, unanswered: () => void): void {
    const { user, client, id } = this.#session;
    if (!user) return unanswered();
    const put = async (signal: AbortSignal) => {
      const text = await user.answer(question, signal);
      await client.sessions.message(id, { text });
    };
    this.#ask(key, { put, unanswered });
  }

  #ask(key: string, { put, unanswered }: Question): void {
    const controller = new AbortController();
    this.#open.set(key, controller);
    void this.#mutex.runExclusive(async () => {
      try {
        if (controller.signal.aborted) return;
        this.#handlers.asking?.(true);
        await put(controller.signal);
      } catch (error) {
        if (error instanceof InputClosed) unanswered?.();
        else if (!unanswered && isTooLate(error)) return;
        else if (!controller.signal.aborted) this.#handlers.failed(error);
      } finally {
        this.#open.delete(key);
        this.#handlers.asking?.(false);
      }
    });
  }

  #withdraw(...keys: (string | undefined)[]): void {
    for (const key of keys) if (key !== undefined) this.#open.get(key)?.abort();
  }
}

const isTooLate = (error: unknown): boolean => errorFrom(error).code === 'not_found';
