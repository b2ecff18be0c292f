import type { Event } from '@belay/protocol';
import type { EventLog } from '../../logs/event-log.js';
import { drained, hangUp, isCongested, type ViewerServer, type ViewerSocket } from './viewer.js';

/** Events that are read and sent in one batch while a viewer catches up. */
const page = 100;

interface Follower {
  socket: ViewerSocket;
  /** The last event that was sent. */
  sent: number;
  /** Set while missed events are sent from the log; live events wait in the log meanwhile. */
  catchingUp: boolean;
  closed: boolean;
}

/**
 * The viewers of one session’s events. One that is up to date receives each live event at once, encoded
 * once for all; one that lags receives missed events from the log by number, without gap or repetition.
 */
export class EventFollowers {
  readonly #followers = new Map<ViewerSocket, Follower>();
  readonly #unsubscribe: () => void;
  readonly #room: string;
  #last = 0;

  constructor(
    private readonly session: string,
    private readonly server: ViewerServer,
    private readonly log: EventLog,
  ) {
    this.#room = `live ${session}`;
    this.#unsubscribe = log.subscribe(session, (events) => this.#publish(events));
  }

  get size(): number {
    return this.#followers.size;
  }

  has(socket: ViewerSocket): boolean {
    return this.#followers.has(socket);
  }

  sockets(): Iterable<ViewerSocket> {
    return this.#followers.keys();
  }

  add(socket: ViewerSocket, after: number): void {
    this.remove(socket);
    const follower = { socket, sent: after, catchingUp: false, closed: false };
    this.#followers.set(socket, follower);
    this.#startCatchingUp(follower);
  }

  remove(socket: ViewerSocket): void {
    const follower = this.#followers.get(socket);
    if (!follower) return;
    follower.closed = true;
    this.#followers.delete(socket);
    void socket.leave(this.#room);
  }

  close(): void {
    this.#unsubscribe();
    for (const socket of this.#followers.keys()) this.remove(socket);
  }

  #publish(events: Event[]): void {
    const first = events[0]?.seq ?? 0;
    this.#last = events.at(-1)?.seq ?? this.#last;
    let live = 0;
    for (const follower of this.#followers.values()) {
      if (follower.catchingUp) continue;
      if (follower.sent !== first - 1 || isCongested(follower.socket)) {
        this.#startCatchingUp(follower);
        continue;
      }
      follower.sent = this.#last;
      live += 1;
    }
    if (live > 0) this.server.to(this.#room).emit('events', { session: this.session, events });
  }

  #startCatchingUp(follower: Follower): void {
    this.#catchUp(follower).catch(() => hangUp(follower.socket));
  }

  async #catchUp(follower: Follower): Promise<void> {
    const { socket } = follower;
    follower.catchingUp = true;
    void socket.leave(this.#room);
    for (;;) {
      if (isCongested(socket)) await drained(socket);
      if (follower.closed || !socket.connected) return;
      const events = await this.log.read(this.session, { after: follower.sent, limit: page });
      if (follower.closed) return;
      const last = events.at(-1)?.seq;
      if (last !== undefined) {
        socket.emit('events', { session: this.session, events });
        follower.sent = last;
      }
      // This check and joining the room are synchronous, so no event is missed in between.
      if (last === undefined && follower.sent >= this.#last) break;
    }
    follower.catchingUp = false;
    void socket.join(this.#room);
  }
}
