import type { WebSocket } from 'ws';
import { limits } from './limits.js';
import { Rate } from './rate.js';

export interface WireListener {
  message(bytes: Buffer): void;
  /** Called once; nothing arrives afterwards. */
  closed(): void;
  /** The peer broke the transport protocol, as a clause; `closed` follows. */
  broken(reason: string): void;
}

/**
 * One transport connection from open to close, with whole messages: ordered and reliable, but not resumed. After an
 * interruption, the channel is attached to a new wire.
 */
export interface Wire {
  /** Does nothing once the wire is closed. */
  send(message: Buffer): void;
  listen(listener: WireListener): void;
  /** Messages sent before still arrive, if the peer reads them. */
  close(): void;
}

/** Common options of both ends of a WebSocket. One message is one frame of a few fragments at most. */
export const socketOptions = {
  perMessageDeflate: false,
  maxPayload: limits.frameBytes + 2 ** 16,
  maxFragments: 64,
  maxBufferedChunks: 2 ** 16,
  skipUTF8Validation: true,
  closeTimeout: 2_000,
} as const;

/** How a server finds out that an agent is gone, in milliseconds. */
export interface Pings {
  intervalMs: number;
  /** How long an agent may be silent. */
  timeoutMs: number;
  /** How long the server may be silent, which each ping says to the agent. */
  serverTimeoutMs: number;
}

/** A busy peer may answer late; on one machine a closed socket is noticed at once, without pings. */
export const nearPings: Pings = {
  intervalMs: 25_000,
  timeoutMs: 145_000,
  serverTimeoutMs: 145_000,
};

/** A cut network closes no socket. A server that is busy for a while should not lose all of its agents at once. */
export const farPings: Pings = { intervalMs: 1_000, timeoutMs: 6_000, serverTimeoutMs: 20_000 };

/** Of a server whose place another one takes: a process that is stopped closes no socket, on one machine either. */
export const replaceablePings = { intervalMs: 2_000, serverTimeoutMs: 6_000 };

/** Wraps an open WebSocket. A `bounded` one is read no faster than the limits allow. */
export function socketWire(socket: WebSocket, { bounded }: { bounded: boolean }): Wire {
  const rate = new Rate({
    messages: limits.messagesPerSecond,
    bytes: limits.bytesPerSecond,
  });
  let waiting: NodeJS.Timeout | undefined;
  const rest = (milliseconds: number): void => {
    socket.pause();
    waiting = setTimeout(() => {
      waiting = undefined;
      socket.resume();
    }, milliseconds);
  };
  // A failure closes the socket; without a listener it would end the process.
  socket.on('error', () => {});
  socket.once('close', () => clearTimeout(waiting));
  return {
    send: (message) => {
      if (socket.readyState === socket.OPEN) socket.send(message);
    },
    listen(listener) {
      socket.once('close', () => listener.closed());
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code?.startsWith('WS_ERR_'))
          listener.broken('a message is too large or malformed');
      });
      socket.on('message', (data: Buffer, isBinary) => {
        if (!isBinary) return listener.broken('a message is text');
        listener.message(data);
        const milliseconds = bounded ? rate.take({ messages: 1, bytes: data.length }) : 0;
        if (milliseconds > 0 && !waiting && socket.readyState === socket.OPEN) rest(milliseconds);
      });
    },
    close: () => {
      // A peer that is no longer read cannot take part in a closing handshake.
      if (waiting) socket.terminate();
      else socket.close();
    },
  };
}
