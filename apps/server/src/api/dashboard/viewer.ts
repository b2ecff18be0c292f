import type { ViewerCalls, ViewerNotices } from '@belay/protocol';
import type { ViewerAccess } from './viewer-access.js';
import type { Server, Socket } from 'socket.io';

export type ViewerSocket = Socket<ViewerCalls, ViewerNotices, Record<string, never>, ViewerData>;
export type ViewerServer = Server<ViewerCalls, ViewerNotices, Record<string, never>, ViewerData>;

export interface ViewerData {
  access: ViewerAccess;
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
export async function drained(socket: ViewerSocket): Promise<void> {
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

/** Makes a viewer reconnect and request what it has missed, because that cannot be sent. */
export function hangUp(socket: ViewerSocket): void {
  // After `disconnect` a client would not reconnect.
  socket.conn.close();
}

const queued = (socket: ViewerSocket): readonly unknown[] =>
  (socket.conn as unknown as { writeBuffer: readonly unknown[] }).writeBuffer;
