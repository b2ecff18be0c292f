import {
  Agent,
  createServer,
  request as ask,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:net';
import { pipeline, type Duplex } from 'node:stream';
import type { Connect } from 'vite';

interface FrontOptions {
  /** The server’s port; pending while the server restarts, undefined when it is not running. */
  serverPort: () => Promise<string | undefined>;
  /** Serves the modules of the dashboard. */
  modules: Connect.Server;
  /** Handles the upgrades of Vite’s client; it does not listen itself. */
  updates: Server;
}

/** Paths that Vite serves to a page: its own modules, our sources and packages. */
const modulePath = /^\/(@|__|src\/|node_modules\/)/;
/** Previews have their own host names, and their programs may serve the same paths. */
const previewHost = /^p-/;

/**
 * One address for server and dashboard. Requests reach the server unchanged, so that its checks of
 * Host, Origin and login apply; only the dashboard’s modules come from Vite. Requests during a
 * restart of the server wait for it, and those that only read are repeated if it cut them off.
 */
export function createFront({ serverPort, modules, updates }: FrontOptions): Server {
  const front = createServer((request, response) => {
    if (!isOfPreview(request) && modulePath.test(request.url ?? '')) modules(request, response);
    else void forward({ request, response }, serverPort);
  });
  front.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const protocol = request.headers['sec-websocket-protocol'] ?? '';
    if (!isOfPreview(request) && protocol.startsWith('vite-'))
      updates.emit('upgrade', request, socket, head);
    else void forwardUpgrade({ request, socket, head }, serverPort());
  });
  return front;
}

const isOfPreview = ({ headers }: IncomingMessage): boolean => previewHost.test(headers.host ?? '');

/** A kept-alive connection could lead to a server that has ended. */
const agent = new Agent({ keepAlive: false });

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

async function forward(
  exchange: Exchange,
  serverPort: FrontOptions['serverPort'],
  { isRepeated = false } = {},
): Promise<void> {
  const { request, response } = exchange;
  const port = await serverPort();
  if (port === undefined) {
    response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('The server is not running. The terminal of “npm run dev” shows why.\n');
    return;
  }
  const { method, url: path, rawHeaders: headers } = request;
  const asked = ask({ host: '127.0.0.1', port, method, path, headers, agent });
  asked.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
    pipeline(answer, response, () => undefined);
  });
  asked.on('error', () => {
    // The server has ended meanwhile: the next one can answer what changes nothing.
    if (!isRepeated && isRepeatable(exchange))
      void forward(exchange, serverPort, { isRepeated: true });
    else response.destroy();
  });
  response.on('close', () => asked.destroy());
  request.pipe(asked);
}

/** Whether it changes nothing, its client is still there, and nothing of it is used up. */
const isRepeatable = ({ request, response }: Exchange): boolean =>
  ['GET', 'HEAD'].includes(request.method ?? '') &&
  !('content-length' in request.headers || 'transfer-encoding' in request.headers) &&
  !(response.headersSent || response.destroyed);

async function forwardUpgrade(
  { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
  found: Promise<string | undefined>,
): Promise<void> {
  socket.on('error', () => socket.destroy());
  const port = await found;
  if (port === undefined) return void socket.destroy();
  const { method, url, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let at = 0; at < rawHeaders.length; at += 2)
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  const server = connect({ host: '127.0.0.1', port: Number(port) });
  server.write(`${lines.join('\r\n')}\r\n\r\n`);
  server.write(head);
  pipeline(socket, server, socket, () => undefined);
}
