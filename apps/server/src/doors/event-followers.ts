import type { Event } from '@belay/protocol';
import type { EventLog } from '../logs/event-log.js';
import { drained, hangUp, isCongested, type ViewerServer, type ViewerSocket } from './viewer.js';

/** Events read and sent in one piece while a viewer catches up. */
const page = 100;

interface Follower {
  socket: ViewerSocket;
  /** The last event that was sent. */
  sent: number;
  /** Set while it is sent what it lacks from the log; live events wait in the log meanwhile. */
  catchingUp: boolean;
  closed: boolean;
}

/**
 * The viewers of one session's events. One that has everything is sent each live event at once, encoded once
 * for all of them; one that lacks something, or is slow, is sent it from the log by number: no gap, no repetition.
 */
export class EventFollowers {
  private readonly followers = new Map<ViewerSocket, Follower>();
  private readonly unsubscribe: () => void;
  private readonly room: string;
  private last = 0;

  constructor(
    private readonly session: string,
    private readonly server: ViewerServer,
    private readonly log: EventLog,
  ) {
    this.room = `live ${session}`;
    this.unsubscribe = log.subscribe(session, (events) => this.publish(events));
  }

  get size(): number {
    return this.followers.size;
  }

  sockets(): Iterable<ViewerSocket> {
    return this.followers.keys();
  }

  add(socket: ViewerSocket, after: number): void {
    this.remove(socket);
    const follower = { socket, sent: after, catchingUp: false, closed: false };
    this.followers.set(socket, follower);
    this.startCatchingUp(follower);
  }

  remove(socket: ViewerSocket): void {
    const follower = this.followers.get(socket);
    if (!follower) return;
    follower.closed = true;
    this.followers.delete(socket);
    void socket.leave(this.room);
  }

  close(): void {
    this.unsubscribe();
    for (const socket of this.followers.keys()) this.remove(socket);
  }

  private publish(events: Event[]): void {
    const first = events[0]?.seq ?? 0;
    this.last = events.at(-1)?.seq ?? this.last;
    let live = 0;
    for (const follower of this.followers.values()) {
      if (follower.catchingUp) continue;
      if (follower.sent !== first - 1 || isCongested(follower.socket)) {
        this.startCatchingUp(follower);
        continue;
      }
      follower.sent = this.last;
      live += 1;
    }
    if (live > 0) this.server.to(this.room).emit('events', { session: this.session, events });
  }

  private startCatchingUp(follower: Follower): void {
    this.catchUp(follower).catch(() => hangUp(follower.socket));
  }

  private async catchUp(follower: Follower): Promise<void> {
    const { socket } = follower;
    follower.catchingUp = true;
    void socket.leave(this.room);
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
      // No turn of the event loop between this look and the room: nothing slips in between.
      if (follower.sent >= this.last && events.length < page) break;
    }
    follower.catchingUp = false;
    void socket.join(this.room);
  }
}
