import type { AppError, ViewerCalls, ViewerNotices } from '@belay/protocol';
import type { Server, Socket } from 'socket.io';
import type { Caller } from '../../access/caller.js';
import type { TransientNoticeMap } from '../../logs/transient-notices.js';
import type {
  FeedNotices,
  Follower,
  FollowedBytes,
  ShownPart,
} from '../../sessions/feed/follower.js';
import type { ViewerAccess } from './viewer-access.js';

export type DashboardSocket = Socket<ViewerCalls, ViewerNotices, Record<string, never>, SocketData>;
export type DashboardServer = Server<ViewerCalls, ViewerNotices, Record<string, never>, SocketData>;

export interface SocketData {
  access: ViewerAccess;
  follower: DashboardFollower;
}

/** What may wait in the server’s memory for one viewer. */
const maxQueued = { packets: 16, characters: 1_000_000 };

/**
 * Whether the viewer’s connection is full. Further data is then read from the log once the connection has drained, so
 * a stalled viewer costs the server only a few packets.
 */
export function isCongested(socket: DashboardSocket): boolean {
  const queue = queued(socket);
  if (queue.length > maxQueued.packets) return true;
  const size = queue.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
  return size > maxQueued.characters;
}

/** One dashboard that follows sessions. */
export class DashboardFollower implements Follower {
  constructor(
    readonly socket: DashboardSocket,
    readonly shown: (session: string) => ShownPart[],
  ) {}

  get caller(): Caller {
    return this.socket.data.access.caller;
  }

  get isOpen(): boolean {
    return this.socket.connected;
  }

  get isCongested(): boolean {
    return isCongested(this.socket);
  }

  async drained(): Promise<void> {
    const { conn } = this.socket;
    if (!this.isOpen || queued(this.socket).length === 0) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        conn.off('drain', done);
        conn.off('close', done);
        resolve();
      };
      conn.on('drain', done);
      conn.on('close', done);
    });
  }

  send<N extends keyof FeedNotices>(name: N, notice: FeedNotices[N]): void {
    emitTo(this.socket, name, notice);
  }

  sendBytes(bytes: FollowedBytes): Promise<void> {
    return new Promise((received) => this.socket.emit('terminal', bytes, received));
  }

  /** It is dropped while the socket is busy: the next one replaces it. */
  showFrame(frame: TransientNoticeMap['frame'][0]): void {
    if (!this.isCongested) this.socket.emit('frame', frame);
  }

  gone(session: string, error: AppError): void {
    this.socket.emit('gone', { session, error: error.toJSON() });
  }

  failed(): void {
    hangUp(this.socket);
  }
}

/** TypeScript cannot infer that the name and the notice belong together. */
export function emitTo(
  to: Pick<DashboardSocket, 'emit'> | Pick<DashboardServer, 'emit'>,
  name: keyof ViewerNotices,
  notice: object,
): void {
  (to.emit as (name: string, notice: object) => void).call(to, name, notice);
}

/** Makes a viewer reconnect and request missed data, which cannot be sent now. */
export function hangUp(socket: DashboardSocket): void {
  // After `disconnect` a client would not reconnect.
  socket.conn.close();
}

interface QueuedPacket {
  data?: string | Uint8Array;
}

const queued = (socket: DashboardSocket): readonly QueuedPacket[] =>
  (socket.conn as unknown as { writeBuffer: readonly QueuedPacket[] }).writeBuffer;
