import type { Event } from '@belay/protocol';
import type { EventLog } from '../../logs/event-log.js';
import { eventsPage } from './feed-limits.js';
import type { Follower, SendAll } from './follower.js';

interface Position<F extends Follower> {
  follower: F;
  /** The last event that was sent. */
  sent: number;
  /** Set while missed events are sent from the log; live events wait in the log meanwhile. */
  catchingUp: boolean;
  closed: boolean;
}

interface Sending<F extends Follower> {
  sendAll: SendAll<F>;
  failed: (follower: F, error: unknown) => void;
}

/**
 * The followers of one session’s events. Those that are up to date are sent each live event at once, together; one that
 * lags receives missed events from the log by number, without gap or repetition.
 */
export class EventFollowers<F extends Follower> {
  readonly #positions = new Map<F, Position<F>>();
  readonly #unsubscribe: () => void;
  #published = 0;

  constructor(
    private readonly session: string,
    private readonly log: EventLog,
    private readonly sending: Sending<F>,
  ) {
    this.#unsubscribe = log.subscribe(session, (events) => this.#publish(events));
  }

  get size(): number {
    return this.#positions.size;
  }

  followers(): Iterable<F> {
    return this.#positions.keys();
  }

  /** The last event that was sent to the follower. */
  after(follower: F): number {
    return this.#positions.get(follower)?.sent ?? 0;
  }

  add(follower: F, after: number): void {
    this.remove(follower);
    const position = { follower, sent: after, catchingUp: false, closed: false };
    this.#positions.set(follower, position);
    this.#startCatchingUp(position);
  }

  remove(follower: F): void {
    const position = this.#positions.get(follower);
    if (!position) return;
    position.closed = true;
    this.#positions.delete(follower);
  }

  close(): void {
    this.#unsubscribe();
    for (const follower of this.#positions.keys()) this.remove(follower);
  }

  #publish(events: Event[]): void {
    const first = events[0]?.seq ?? 0;
    this.#published = events.at(-1)?.seq ?? this.#published;
    const ready: F[] = [];
    for (const position of this.#positions.values()) {
      if (position.catchingUp) continue;
      if (position.sent !== first - 1 || position.follower.isCongested) {
        this.#startCatchingUp(position);
        continue;
      }
      position.sent = this.#published;
      ready.push(position.follower);
    }
    if (ready.length > 0) this.sending.sendAll(ready, 'events', { session: this.session, events });
  }

  #startCatchingUp(position: Position<F>): void {
    this.#catchUp(position).catch((error: unknown) => {
      if (!position.closed) this.sending.failed(position.follower, error);
    });
  }

  async #catchUp(position: Position<F>): Promise<void> {
    const { session } = this;
    const { follower } = position;
    position.catchingUp = true;
    for (;;) {
      if (follower.isCongested) await follower.drained();
      if (position.closed || !follower.isOpen) return;
      const published = this.#published;
      const events = await this.log.read(session, { after: position.sent, limit: eventsPage });
      if (position.closed) return;
      const last = events.at(-1)?.seq;
      if (last !== undefined) {
        follower.send('events', { session, events });
        position.sent = last;
      }
      // A published event is missing: the session is being deleted, and its followers are notified.
      else if (position.sent < published) return;
      // This check and the end of catching up are synchronous, so no event is missed in between.
      else if (position.sent >= this.#published) break;
    }
    position.catchingUp = false;
  }
}
