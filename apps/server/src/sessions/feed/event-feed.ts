import { Injectable } from '@nestjs/common';
import { ignoreError, type Event } from '@belay/protocol';
import { timeLimit } from '@belay/rpc';
import { EventLog } from '../../logs/event-log.js';
import { SessionRemoval } from '../session-removal.js';
import { eventsPage } from './feed-limits.js';
import { NewsFollower } from './news-follower.js';
import { RemoteFollowers } from './remote-followers.js';

/** The log of a session for readers that wait for new events, by single requests or as a stream. */
@Injectable()
export class EventFeed {
  constructor(
    private readonly log: EventLog,
    private readonly removal: SessionRemoval,
    private readonly remote: RemoteFollowers,
  ) {}

  /** Events after a number. If there are none, it waits for the first one, or until `waitMs` have passed. */
  async next(
    session: string,
    range: { after: number; limit?: number; waitMs: number },
    signal: AbortSignal,
  ): Promise<Event[]> {
    const news = new NewsFollower(session, this.remote);
    try {
      return await this.#next(news, range, signal);
    } finally {
      news.close();
    }
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
    const news = new NewsFollower(session, this.remote);
    try {
      while (!signal.aborted) {
        const range = { after: last, limit: eventsPage, waitMs: idleMs };
        const events = await this.#next(news, range, signal);
        if (signal.aborted) return;
        last = events.at(-1)?.seq ?? last;
        yield events;
      }
    } finally {
      news.close();
    }
  }

  async #next(
    news: NewsFollower,
    { after, limit, waitMs }: { after: number; limit?: number | undefined; waitMs: number },
    signal: AbortSignal,
  ): Promise<Event[]> {
    const { session } = news;
    const events = await this.#read(session, { after, limit });
    if (events.length > 0 || waitMs === 0) return events;
    const time = waitMs === Infinity ? signal : timeLimit(waitMs, signal);
    await this.#news(news, after, time);
    return signal.aborted ? [] : this.#read(session, { after, limit });
  }

  async #read(
    session: string,
    { after, limit }: { after: number; limit: number | undefined },
  ): Promise<Event[]> {
    await this.log.summary(session);
    return this.log.read(session, { after, ...(limit !== undefined && { limit }) });
  }

  /** Resolves when there is an event after a number, the session is deleted, or the signal is aborted. */
  async #news(news: NewsFollower, after: number, signal: AbortSignal): Promise<void> {
    const { session } = news;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(ignoreError('it is thrown where the promise is awaited'));
    const wake = (): void => resolve();
    const look = async (): Promise<void> => {
      if ((await this.log.lastSeq(session)) > after) wake();
    };
    const endings = [
      this.log.subscribe(session, wake),
      this.removal.onRemoved((id) => id === session && wake()),
      // What happened while it moved was told to nobody.
      this.log.onMoved((id) => id === session && void look().catch(wake)),
      news.listen(after, (error) => (error === undefined ? wake() : reject(error as Error))),
    ];
    signal.addEventListener('abort', wake, { once: true });
    try {
      // Checked after subscribing: an event is either stored already, or will be published.
      if (signal.aborted || (await this.log.lastSeq(session)) > after) return;
      await promise;
    } finally {
      for (const end of endings) end();
      signal.removeEventListener('abort', wake);
    }
  }
}
