import { budgets, isEvent, noUse, useAfter, type Event, type NewEvent } from '@belay/protocol';
import type { Spending } from './loop/budget-notice.js';
import { ConversationLog } from './loop/conversation-log.js';
import type { Conversation } from './loop/conversation.js';
import { isOwn, matters } from './loop/counted.js';

/**
 * The agent’s copy of the session’s log: its own events, once they are stored and numbered, and the events of others,
 * in the order in which the server sends them. Only events that affect the conversation are kept, so that a huge log
 * uses little memory.
 */
export class AgentLog {
  readonly #kept = new ConversationLog();
  readonly #listeners = new Set<() => void>();
  #own = 0;
  #others = 0;
  #spending: Spending = { budgets: budgets.parse({}), ...noUse, last: { tokens: 0, dollars: 0 } };

  constructor(events: readonly Event[]) {
    for (const event of events) this.#keep(event);
  }

  /** The latest events in this copy, of the agent and of all others. */
  get seen(): { own: number; others: number } {
    return { own: this.#own, others: this.#others };
  }

  get spending(): Spending {
    return this.#spending;
  }

  get conversation(): Conversation {
    return this.#kept.conversation;
  }

  /** The conversation as it would be if the agent wrote this event next. */
  conversationWith(event: NewEvent): Conversation {
    return this.#kept.with({ ...event, time: '', seq: Number.MAX_SAFE_INTEGER });
  }

  /** Whether an id names a call in this log. */
  has(id: string): boolean {
    return this.#kept.has(id);
  }

  /** Adds events of others, in order; known ones are ignored. Returns the new ones. */
  receive(events: readonly Event[]): Event[] {
    const fresh = events.filter((event) => !isOwn(event) && event.seq > this.#others);
    for (const event of fresh) this.#keep(event);
    if (fresh.length > 0) this.#notify();
    return fresh;
  }

  /** Adds an event of the agent that the server has stored as `seq`. */
  stored(event: NewEvent & { time: string }, seq: number): void {
    if (seq <= this.#own) return;
    this.#keep({ ...event, seq });
  }

  /** Resolves when others have written something; rejects with the signal’s reason. */
  async changed(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => reject(signal?.reason);
    this.#listeners.add(resolve);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await promise;
    } finally {
      this.#listeners.delete(resolve);
      signal?.removeEventListener('abort', abort);
    }
  }

  #keep(event: Event): void {
    if (isOwn(event)) this.#own = Math.max(this.#own, event.seq);
    else this.#others = Math.max(this.#others, event.seq);
    this.#spending = { ...useAfter(this.#spending, event), last: this.#lastAfter(event) };
    if (matters(event)) this.#kept.append(event);
  }

  /** The cost of a summary, a draft or a program’s request does not predict that of the next reply. */
  #lastAfter(event: Event): Spending['last'] {
    if (!isEvent(event, 'usage')) return this.#spending.last;
    const { purpose, request } = event.args;
    if (purpose !== 'turn' || request !== undefined) return this.#spending.last;
    const { inputTokens, outputTokens, dollars } = event.args;
    return { tokens: inputTokens + outputTokens, dollars: dollars ?? 0 };
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
