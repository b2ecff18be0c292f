import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { endToEndHeaders, errorFrom } from '@belay/protocol';
import { joinStreams } from './join-streams.js';

export interface EgressProxy {
  port: number;
  close(): Promise<void>;
}

export interface EgressProxyOptions {
  /** Opens a connection out of the sandbox; rejects with `AppError` when it is refused or fails. */
  open(host: string, port: number): Promise<Duplex>;
}

/**
 * An HTTP proxy on a free port of 127.0.0.1: CONNECT, and plain requests with absolute addresses, each over a
 * connection of its own. A refused host is answered with 403 and the reason, any other failure with 502.
 */
export async function startEgressProxy({ open }: EgressProxyOptions): Promise<EgressProxy> {
  const tunnels = new Set<Duplex>();
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    void forward(request, response, open);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    tunnels.add(socket);
    socket.once('close', () => tunnels.delete(socket));
    void tunnel(request, { socket, head }, open);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of tunnels) socket.destroy();
      }),
  };
}

type Open = EgressProxyOptions['open'];

async function tunnel(
  request: IncomingMessage,
  { socket, head }: { socket: Socket; head: Buffer },
  open: Open,
): Promise<void> {
  // A client that leaves while it waits must not bring the process down.
  socket.on('error', () => socket.destroy());
  const target = authority(request.url ?? '');
  if (!target) {
    refuse(socket, 400, 'CONNECT needs HOST:PORT.');
    return;
  }
  let outside: Duplex;
  try {
    outside = await open(target.host, target.port);
  } catch (error) {
    const { status, message } = failure(error);
    refuse(socket, status, message);
    return;
  }
  if (socket.destroyed) {
    outside.destroy();
    return;
  }
  socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) outside.write(head);
  joinStreams(socket, outside);
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  open: Open,
): Promise<void> {
  const url = absolute(request.url ?? '');
  if (!url) {
    answer(response, 400, 'This is an HTTP proxy: ask for http://HOST/PATH, or CONNECT HOST:PORT.');
    return;
  }
  try {
    const outside = await open(url.hostname.replace(/^\[|\]$/g, ''), Number(url.port || 80));
    if (response.destroyed) outside.destroy();
    else pass(request, response, { url, outside });
  } catch (error) {
    const { status, message } = failure(error);
    answer(response, status, message);
  }
}

function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { url, outside }: { url: URL; outside: Duplex },
): void {
  const onward = httpRequest({
    createConnection: () => outside,
    method: request.method,
    path: url.pathname + url.search,
    headers: {
      ...endToEndHeaders(request.headersDistinct),
      host: url.host,
      connection: 'close',
      // Set explicitly, because Node would send the body of a GET without any framing.
      ...(request.headers['transfer-encoding'] && { 'transfer-encoding': 'chunked' }),
    },
    setDefaultHeaders: false,
  });
  // A paused stream is not resumed by a reader, unlike one that was never read.
  onward.once('socket', () => outside.resume());
  onward.on('response', (reply) => {
    response.writeHead(
      reply.statusCode ?? 502,
      reply.statusMessage,
      endToEndHeaders(reply.headersDistinct),
    );
    reply.pipe(response);
    // A reply that breaks off must not look complete.
    reply.on('error', () => response.destroy());
    reply.once('aborted', () => response.destroy());
  });
  onward.on('error', (error) => {
    outside.destroy();
    if (response.headersSent) response.destroy();
    else answer(response, 502, `${url.host} closed the connection early: ${error.message}.`);
  });
  // After a complete reply, the connection is ended; if the client left early, it is destroyed.
  response.once('close', () => (response.writableFinished ? outside.end() : outside.destroy()));
  request.pipe(onward);
}

function absolute(address: string): URL | undefined {
  if (!/^http:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  return new URL(address);
}

function authority(text: string): { host: string; port: number } | undefined {
  const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|[^:[\]/@\s]+):(\d{1,5})$/.exec(text) ?? [];
  const number = Number(port);
  if (!host || number < 1 || number > 65_535) return undefined;
  return { host: host.replace(/^\[|\]$/g, ''), port: number };
}

function failure(error: unknown): { status: number; message: string } {
  const { code, message } = errorFrom(error);
  return { status: code === 'rejected' ? 403 : 502, message };
}

function answer(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${message}\n`);
}

function refuse(socket: Socket, status: number, message: string): void {
  const words = { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway' }[status] ?? 'Error';
  const body = `${message}\n`;
  socket.end(
    `HTTP/1.1 ${status} ${words}\r\ncontent-type: text/plain; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
