import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '@belay/protocol';
import { joinStreams } from './join-streams.js';

/** Servers listen on one of these, depending on what `localhost` resolves to. */
const loopback = ['127.0.0.1', '::1'];
const connectTimeoutMs = 5_000;

/** Connects a stream to a port of loopback. Rejects with `unavailable` when nothing listens there. */
export async function connectPort(port: number, stream: Duplex): Promise<void> {
  const socket = await firstOf(port);
  if (stream.destroyed) socket.destroy();
  else joinStreams(stream, socket);
}

async function firstOf(port: number): Promise<Socket> {
  for (const host of loopback) {
    const socket = await connected(host, port);
    if (socket) return socket;
  }
  throw new AppError(
    'unavailable',
    `Nothing accepts connections on port ${port} of the sandbox. Start the server there, or choose another port.`,
  );
}

function connected(host: string, port: number): Promise<Socket | undefined> {
  const socket = connect({ host, port, allowHalfOpen: true, timeout: connectTimeoutMs });
  return new Promise((resolve) => {
    const fail = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    socket.once('error', fail).once('timeout', fail);
    socket.once('connect', () => {
      socket.off('error', fail).off('timeout', fail).setTimeout(0);
      resolve(socket);
    });
  });
}
