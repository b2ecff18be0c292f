import { STATUS_CODES, type RequestListener, type Server as HttpServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorCodes, type AppError } from '@belay/protocol';
import { expireAfterReading } from './expire-after-reading.js';
import { limits } from './limits.js';
import { Rate } from './rate.js';

/**
 * The connections of a server that are not accepted yet: a few at a time, for seconds each. The oldest is dropped
 * first, so that idle ones block nobody; too many in a second are dropped unread.
 */
export class WaitingConnections {
  /** Each with the function that cancels its end. */
  readonly #waiting = new Map<Duplex, () => void>();
  readonly #rate = new Rate({ connections: limits.connectionsPerSecond });
  readonly #server: HttpServer;

  /** Requests without an upgrade are refused unless something serves them. */
  constructor(server: HttpServer, served: RequestListener = mustUpgrade) {
    this.#server = server;
    server.on('connection', (socket: Duplex) => this.#add(socket));
    server.on('request', served);
    server.on('clientError', (_error, socket) => socket.destroy());
    // For example when no descriptors are left; without a listener, the error would end the process.
    server.on('error', () => {});
  }

  /** The connection was accepted. */
  leave(socket: Duplex): void {
    this.#waiting.get(socket)?.();
    this.#waiting.delete(socket);
  }

  #add(socket: Duplex): void {
    socket.on('error', () => {});
    const pauseMs = this.#rate.take({ connections: 1 });
    if (pauseMs > 0) {
      this.#dropAll(pauseMs);
      socket.destroy();
      return;
    }
    this.#waiting.set(
      socket,
      expireAfterReading(limits.helloTimeoutMs, () => socket.destroy()),
    );
    socket.once('close', () => this.leave(socket));
    if (this.#waiting.size <= limits.waitingConnections) return;
    const [oldest] = this.#waiting.keys();
    oldest?.destroy();
  }

  /** The runtime itself closes them, which costs least. */
  #dropAll(milliseconds: number): void {
    this.#server.maxConnections = 0;
    setTimeout(() => {
      this.#server.maxConnections = Number.POSITIVE_INFINITY;
    }, milliseconds).unref();
  }
}

/** Refuses a request that is none to upgrade. */
export const mustUpgrade: RequestListener = (_request, response) => {
  response.writeHead(426, { connection: 'close' }).end();
};

/** Responds with the error and closes. */
export function refuse(socket: Duplex, error: AppError): void {
  const { http } = errorCodes[error.code];
  const body = JSON.stringify(error);
  socket.end(
    `HTTP/1.1 ${http} ${STATUS_CODES[http] ?? 'Refused'}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
