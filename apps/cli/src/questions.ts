import {
  isFact,
  type ApprovalAnswer,
  type ApprovalRequest,
  type Event,
  type SessionSummary,
} from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { oneLine } from './output.js';
import { PersonLeft, type Person } from './person.js';

interface Asked {
  id: string;
  client: BelayClient;
  person: Person | undefined;
}

interface Ends {
  /** Something waits and there is nobody to ask. */
  nobody(what: string): void;
  failed(error: unknown): void;
  /** A question is put, or none is any more. */
  asking?(open: boolean): void;
}

/** The questions of one session, put to the person one after the other; an answer from elsewhere takes them back. */
export class Questions {
  readonly #open = new Map<string, AbortController>();
  #last: Promise<void> = Promise.resolve();

  constructor(
    private readonly asked: Asked,
    private readonly ends: Ends,
  ) {}

  /** What waits in a session that was going on before. */
  join(summary?: Pick<SessionSummary, 'waitingFor' | 'question'>): void {
    for (const request of summary?.waitingFor ?? []) this.#approve(request);
    if (typeof summary?.question === 'string') this.#answer('ask', summary.question);
  }

  see(event: Event): void {
    if (isFact(event, 'approval') && event.args.mode === 'ask') this.#approve(event.args);
    else if (event.action === 'ask') this.#answer(event.id ?? 'ask', String(event.args.question));
    else if (event.action === 'approve' || event.action === 'reject') this.#takeBack(event.id);
    else if (event.action === 'message') this.#takeBack('ask');
    else if (isFact(event, 'result')) this.#takeBack(event.id);
  }

  close(): void {
    for (const controller of this.#open.values()) controller.abort();
    this.#open.clear();
  }

  #approve(request: ApprovalRequest): void {
    const { person, client, id } = this.asked;
    const what = `It needs a person to allow ${request.operation}.`;
    if (!person) return this.ends.nobody(what);
    this.#ask(request.id, what, async (signal) => {
      const answer: ApprovalAnswer = await person.approve(request, signal);
      await client.sessions.answer(id, request.id, answer);
    });
  }

  #answer(key: string, question: string): void {
    const { person, client, id } = this.asked;
    const what = `It asks a person: ${oneLine(question, 400)}`;
    if (!person) return this.ends.nobody(what);
    this.#ask(key, what, async (signal) => {
      const text = await person.answer(question, signal);
      await client.sessions.message(id, { text });
    });
  }

  #ask(key: string, what: string, put: (signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController();
    this.#open.set(key, controller);
    this.#last = this.#last
      .then(() => {
        if (controller.signal.aborted) return undefined;
        this.ends.asking?.(true);
        return put(controller.signal);
      })
      .catch((error: unknown) => {
        if (error instanceof PersonLeft) this.ends.nobody(what);
        else if (!controller.signal.aborted) this.ends.failed(error);
      })
      .finally(() => {
        this.#open.delete(key);
        this.ends.asking?.(false);
      });
  }

  #takeBack(key: string | undefined): void {
    if (key !== undefined) this.#open.get(key)?.abort();
  }
}
