import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, type Duplex } from 'node:stream';
import { AppError, errorFrom, gatewayPort, ignoreError, type StreamMeta } from '@belay/protocol';
import { readReplyHead } from './read-reply-head.js';

type ModelStream = StreamMeta<'model'>;

export interface Gateway {
  port: number;
  /** The credential of programs: worth nothing elsewhere. */
  token: string;
  close(): Promise<void>;
}

export interface GatewayOptions {
  /** Opens a stream to the session’s model; rejects with `AppError`. */
  open(request: ModelStream): Promise<Duplex>;
  /**
   * Awaited before a client gets anything of a reply, while the model already works on it: such as for the changes of
   * earlier calls to be recorded, before the reply brings others. Never rejects.
   */
  beforeReply?: (() => Promise<void>) | undefined;
  /** A new one if omitted. */
  token?: string | undefined;
  /** Tests use a free one. */
  port?: number;
}

/** The limit for the headers of a request. */
const maxHeaderBytes = 16 * 2 ** 10;
/** Headers that stay in the sandbox: credentials, and those of this connection alone. */
const ownHeaders =
  /^(authorization|x-api-key|x-goog-api-key|cookie|host|connection|content-length|transfer-encoding|expect|proxy-.*)$/;

/**
 * The APIs of model providers on a port of 127.0.0.1, for the programs of the sandbox: each request goes to the server,
 * which has the key and decides what is passed on. Rejects if the port is taken.
 */
export async function startGateway({
  open,
  beforeReply = async () => {},
  token = randomBytes(32).toString('base64url'),
  port = gatewayPort,
}: GatewayOptions): Promise<Gateway> {
  const server = createServer(
    { maxHeaderSize: maxHeaderBytes, requestTimeout: 0 },
    (request, response) => {
      const answer = (status: number, message: string) =>
        refuse(request, response, { status, message });
      // Some clients look whether there is anything at all.
      if (request.method === 'HEAD') return void response.writeHead(200).end();
      if (!mayCall(request, token)) {
        return answer(
          401,
          'The gateway of this sandbox takes only the token that Belay gave to its programs.',
        );
      }
      const { method } = request;
      if (method !== 'GET' && method !== 'POST')
        return answer(405, `Belay does not pass on ${method}.`);
      pass({ request, response, method }, { open, beforeReply }).catch((error: unknown) => {
        const { code, message } = errorFrom(error);
        answer(code === 'invalid_input' ? 400 : 503, message);
      });
    },
  );
  server.on('upgrade', (_request, socket) => {
    socket.on('error', ignoreError('the client is gone'));
    socket.end('HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  });
  await listen(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    token,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Passed {
  request: IncomingMessage;
  response: ServerResponse;
  method: ModelStream['method'];
}

async function pass(
  { request, response, method }: Passed,
  { open, beforeReply }: Required<Pick<GatewayOptions, 'open' | 'beforeReply'>>,
): Promise<void> {
  const path = withoutKey(request.url ?? '/');
  const stream = await open({ method, path, headers: passedHeaders(request.headers) });
  // A reply that breaks off must not look complete, and a client that left must end the call.
  stream.once('error', () => response.destroy());
  response.once('close', () => {
    if (!response.writableFinished) stream.destroy();
  });
  if (response.destroyed) return void stream.destroy();
  request.pipe(stream);
  const head = await readReplyHead(stream);
  await beforeReply();
  response.writeHead(head.status, head.headers);
  // Clients of streams wait for it.
  response.flushHeaders();
  pipeline(stream, response, ignoreError('each end learns of it by itself'));
}

/** A program proves that it was given the token, so that no web page in the sandbox’s browser can call models. */
function mayCall({ headers, url }: IncomingMessage, token: string): boolean {
  const given = [
    headers.authorization?.replace(/^Bearer\s+/i, ''),
    headers['x-api-key'],
    headers['x-goog-api-key'],
    URL.parse(url ?? '/', 'http://gateway')?.searchParams.get('key'),
  ];
  return given.some((one) => typeof one === 'string' && isSame(one, token));
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function withoutKey(target: string): string {
  const [path = '/', query = ''] = target.split('?');
  const kept = query.split('&').filter((part) => part !== '' && !/^key(=|$)/.test(part));
  return kept.length > 0 ? `${path}?${kept.join('&')}` : path;
}

const passedHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && !ownHeaders.test(name) ? [[name, value]] : [],
    ),
  );

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message }: { status: number; message: string },
): void {
  request.resume();
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  // All SDKs find the sentence here.
  response.end(JSON.stringify({ type: 'error', error: { type: 'belay', message } }));
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ message }) =>
      reject(
        new AppError('unavailable', `The model gateway cannot listen on port ${port}: ${message}.`),
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
}
