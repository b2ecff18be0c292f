import type { Event, NewEvent } from '@belay/protocol';
import { isOwn, matters } from './loop/counted.js';

/**
 * The session's log as the agent has it: what it wrote itself, once stored and numbered, and what others wrote, as
 * the server tells it in order. Only what the conversation depends on is kept, so that a huge log stays small here.
 */
export class SessionLog {
  readonly #events: Event[] = [];
  readonly #listeners = new Set<() => void>();
  #own = 0;
  #others = 0;

  constructor(events: readonly Event[]) {
    for (const event of events) this.#keep(event);
  }

  /** The last events, of the agent and of all others, that are here. */
  get seen(): { own: number; others: number } {
    return { own: this.#own, others: this.#others };
  }

  get events(): readonly Event[] {
    return this.#events;
  }

  /** Takes what others wrote, in order; what is here already is ignored. Answers the new ones. */
  hear(events: readonly Event[]): Event[] {
    const fresh = events.filter((event) => !isOwn(event) && event.seq > this.#others);
    for (const event of fresh) this.#keep(event);
    if (fresh.length > 0) this.#tell();
    return fresh;
  }

  /** Takes an event of the agent that the server has stored as `seq`. */
  stored(event: NewEvent & { time: string }, seq: number): void {
    if (seq <= this.#own) return;
    this.#keep({ ...event, seq });
  }

  /** Resolves when others have written something; rejects with the signal's reason. */
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
    if (matters(event)) this.#events.push(event);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
