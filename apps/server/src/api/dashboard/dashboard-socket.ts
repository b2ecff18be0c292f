import type { AppError, ViewerCalls, ViewerNotices } from '@belay/protocol';
import type { Server, Socket } from 'socket.io';
import type { FeedNotices, Follower, TerminalBytes } from '../../sessions/feed/follower.js';
import type { ViewerAccess } from './viewer-access.js';

export type ViewerSocket = Socket<ViewerCalls, ViewerNotices, Record<string, never>, ViewerData>;
export type ViewerServer = Server<ViewerCalls, ViewerNotices, Record<string, never>, ViewerData>;

export interface ViewerData {
  access: ViewerAccess;
  follower: DashboardFollower;
}

/** Packets that may wait in the server’s memory for one viewer. */
const maxQueued = 16;

/**
 * Whether the viewer’s connection accepts more packets. The rest is read from the log when the connection has
 * drained, so a stalled viewer costs the server only a few packets.
 */
export function isCongested(socket: ViewerSocket): boolean {
  return queued(socket).length > maxQueued;
}

/** Resolves when the connection has taken everything, or has ended. */
async function drained(socket: ViewerSocket): Promise<void> {
  const { conn } = socket;
  if (!socket.connected || queued(socket).length === 0) return;
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

/** One dashboard that follows sessions. */
export class DashboardFollower implements Follower {
  constructor(readonly socket: ViewerSocket) {}

  get isOpen(): boolean {
    return this.socket.connected;
  }

  get isCongested(): boolean {
    return isCongested(this.socket);
  }

  drained(): Promise<void> {
    return drained(this.socket);
  }

  send<N extends keyof FeedNotices>(name: N, notice: FeedNotices[N]): void {
    emitTo(this.socket, name, notice);
  }

  sendBytes(bytes: TerminalBytes): Promise<void> {
    return new Promise((received) => this.socket.emit('terminal', bytes, received));
  }

  gone(session: string, error: AppError): void {
    this.socket.emit('gone', { session, error: error.toJSON() });
  }

  failed(): void {
    hangUp(this.socket);
  }
}

/** TypeScript does not see that the name and the notice belong together. */
export function emitTo(
  to: Pick<ViewerSocket, 'emit'> | Pick<ViewerServer, 'emit'>,
  name: keyof ViewerNotices,
  notice: object,
): void {
  (to.emit as (name: string, notice: object) => void).call(to, name, notice);
}

/** Makes a viewer reconnect and request what it has missed, because that cannot be sent. */
export function hangUp(socket: ViewerSocket): void {
  // After `disconnect` a client would not reconnect.
  socket.conn.close();
}

const queued = (socket: ViewerSocket): readonly unknown[] =>
  (socket.conn as unknown as { writeBuffer: readonly unknown[] }).writeBuffer;
