import { dashboardPath } from '@belay/protocol';
import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client';

export type { Socket };

/** A connection of its own to the dashboard’s socket of a server, which connects once. The caller closes it. */
export const dashboardSocket = (
  url: string,
  extraHeaders: Readonly<Record<string, string>>,
  more: Partial<ManagerOptions & SocketOptions> = {},
): Socket =>
  io(url, {
    path: dashboardPath,
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
    extraHeaders: { ...extraHeaders },
    ...more,
  });

/** Resolves with the socket once it is connected. Rejects when the server refuses it. */
export const connected = (socket: Socket): Promise<Socket> =>
  new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(socket));
    socket.once('connect_error', reject);
  });
