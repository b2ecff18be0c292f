import type { Role, ViewerCalls, ViewerNotices } from '@belay/protocol';
import type { Server, Socket } from 'socket.io';

export type ViewerSocket = Socket<ViewerCalls, ViewerNotices, Record<string, never>, ViewerData>;
export type ViewerServer = Server<ViewerCalls, ViewerNotices, Record<string, never>, ViewerData>;

export interface ViewerData {
  role: Role;
}

/** Packets that may wait in the server's memory for one viewer. */
const maxQueued = 16;

/**
 * Whether the viewer's connection takes what it is sent. What waits is not sent but read again from the log
 * when there is room, so a viewer that stalls costs the server a few packets and no more.
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

/** For a viewer that cannot be sent what it lacks: it connects again and asks for what follows. */
export function hangUp(socket: ViewerSocket): void {
  // Not `disconnect`, which tells a client to stay away.
  socket.conn.close();
}

const queued = (socket: ViewerSocket): readonly unknown[] =>
  (socket.conn as unknown as { writeBuffer: readonly unknown[] }).writeBuffer;
