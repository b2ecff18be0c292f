import { Injectable } from '@nestjs/common';
import type { Event } from '@belay/protocol';
import { timeLimit } from '@belay/rpc';
import { EventLog } from '../../logs/event-log.js';
import { SessionRemoval } from '../session-removal.js';
import { eventsPage } from './feed-limits.js';

/** The log of a session for readers that wait for new events, by single requests or as a stream. */
@Injectable()
export class EventFeed {
  constructor(
    private readonly log: EventLog,
    private readonly removal: SessionRemoval,
  ) {}

  /** Events after a number. If there are none, it waits for the first one, or until `waitMs` have passed. */
  async next(
    session: string,
    range: { after: number; limit?: number; waitMs: number },
    signal: AbortSignal,
  ): Promise<Event[]> {
    const { after, limit, waitMs } = range;
    const events = await this.#read(session, { after, limit });
    if (events.length > 0 || waitMs === 0) return events;
    const time = waitMs === Infinity ? signal : timeLimit(waitMs, signal);
    await this.#news(session, after, time);
    return signal.aborted ? [] : this.#read(session, { after, limit });
  }

  /**
   * Yields pages of events from a number on, in order, without gaps and without end; with `idleMs` also an empty page
   * after that long without events. A page is read only after the previous one was consumed, so a slow reader uses no
   * memory. Throws `not_found` once the session is deleted.
   */
  async *follow(
    session: string,
    { after, idleMs = Infinity }: { after: number; idleMs?: number },
    signal: AbortSignal,
  ): AsyncGenerator<Event[], void> {
    let last = after;
    while (!signal.aborted) {
      const events = await this.next(
        session,
        { after: last, limit: eventsPage, waitMs: idleMs },
        signal,
      );
      if (signal.aborted) return;
      last = events.at(-1)?.seq ?? last;
      yield events;
    }
  }

  async #read(
    session: string,
    { after, limit }: { after: number; limit: number | undefined },
  ): Promise<Event[]> {
    await this.log.summary(session);
    return this.log.read(session, { after, ...(limit !== undefined && { limit }) });
  }

  /** Resolves when there is an event after a number, the session is deleted, or the signal is aborted. */
  async #news(session: string, after: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const unsubscribe = this.log.subscribe(session, wake);
    const forget = this.removal.onRemoved((id) => id === session && wake());
    signal.addEventListener('abort', wake, { once: true });
    try {
      // Checked after subscribing: an event is either stored already, or will be published.
      if (signal.aborted || (await this.log.lastSeq(session)) > after) return;
      await promise;
    } finally {
      unsubscribe();
      forget();
      signal.removeEventListener('abort', wake);
    }
  }
}
