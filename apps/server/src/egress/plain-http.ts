import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { endToEndHeaders } from '@belay/protocol';
import { isWebSocket } from '../is-web-socket.js';
import type { EgressTarget } from './policy.js';
import { endSoon, pump } from './pump.js';

export interface PlainHttpOptions {
  target: EgressTarget;
  /** Only GET and HEAD, without a body. */
  readsOnly: boolean;
  /** Called with a refusal, as a sentence. */
  onRefused: (sentence: string) => void;
}

/**
 * Parses the single request of a connection and sends it again, so that the server reads exactly what was checked: its
 * Host is the allowed host. The response says `connection: close`; another request needs another connection.
 */
export function relayHttp(sandbox: Duplex, outside: Duplex, options: PlainHttpOptions): void {
  const server = createServer({
    requestTimeout: 0,
    shouldUpgradeCallback: isWebSocket,
  });
  server.maxRequestsPerSocket = 1;
  let requests = 0;
  const refusal = (request: IncomingMessage): string | undefined =>
    (requests += 1) > 1 ? 'A connection takes one request.' : faultOf(request, options);
  server.on('request', (request, response) => {
    const sentence = refusal(request);
    if (sentence === undefined) return forward(request, response, { outside, options });
    options.onRefused(sentence);
    outside.destroy();
    response.writeHead(403, plainText).end(`${sentence}\n`);
  });
  const refuse = (sentence: string): void => {
    options.onRefused(sentence);
    outside.destroy();
    sandbox.end(rawRefusal(sentence));
  };
  server.on('upgrade', (request, _socket, head) => {
    const sentence = refusal(request);
    if (sentence !== undefined) refuse(sentence);
    else upgrade(request, { outside, sandbox, head, options });
  });
  server.on('connect', () => refuse('CONNECT is not forwarded. Open the connection directly.'));
  server.on('clientError', () =>
    refuse('The data sent to this host is not HTTP/1.1 that can be checked.'),
  );
  for (const stream of [sandbox, outside]) stream.on('error', () => stream.destroy());
  sandbox.once('close', () => outside.destroy());
  endSoon(sandbox);
  server.emit('connection', sandbox);
  sandbox.resume();
}

/** The reason why a request is not forwarded, as a sentence. */
function faultOf(
  request: IncomingMessage,
  { target, readsOnly }: PlainHttpOptions,
): string | undefined {
  const { method = '', headers, headersDistinct, url = '' } = request;
  const allowed = authorityOf(target);
  const named = [...(headersDistinct['host'] ?? []), ...absolute(url)];
  const other = named.find((name) => !isSame(name, target));
  if (other !== undefined)
    return `The request to ${allowed} is for ${other || 'no host'}: it may only name the host that was allowed.`;
  if ((headersDistinct['host']?.length ?? 0) > 1)
    return 'A request must have exactly one Host header.';
  if (!readsOnly) return undefined;
  if (!['GET', 'HEAD'].includes(method))
    return `${allowed} may only be read, so ${method} is refused: add it to the session’s hosts to allow more.`;
  const hasBody = headers['transfer-encoding'] || Number(headers['content-length'] ?? 0) > 0;
  if (hasBody || headers.upgrade)
    return `${allowed} may only be read, so a ${method} with a body is refused.`;
  return undefined;
}

/** The host in an absolute address, as clients send it to a proxy. */
const absolute = (address: string): string[] =>
  address.startsWith('/') || address === '*'
    ? []
    : [URL.canParse(address) ? new URL(address).host : address];

function isSame(name: string, { host, port }: EgressTarget): boolean {
  if (/[\s/@?#\\]/.test(name) || !URL.canParse(`http://${name}`)) return false;
  const url = new URL(`http://${name}`);
  const same = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '') === host;
  return same && Number(url.port || 80) === port;
}

const authorityOf = ({ host, port }: EgressTarget): string =>
  `${host.includes(':') ? `[${host}]` : host}${port === 80 ? '' : `:${port}`}`;

interface Onward {
  outside: Duplex;
  options: PlainHttpOptions;
}

function onward(
  request: IncomingMessage,
  { outside, options: { target } }: Onward,
  headers: OutgoingHttpHeaders,
) {
  const url = request.url ?? '/';
  const path =
    url.startsWith('/') || url === '*' ? url : new URL(url).pathname + new URL(url).search;
  const { method } = request;
  const sent = { ...endToEnd(request), host: authorityOf(target), ...headers };
  return httpRequest({
    createConnection: () => outside,
    method,
    path,
    headers: sent,
    setDefaultHeaders: false,
  });
}

function forward(request: IncomingMessage, response: ServerResponse, way: Onward): void {
  const chunked = request.headers['transfer-encoding'] !== undefined;
  const sent = onward(request, way, {
    connection: 'close',
    // Set explicitly, because Node would send the body of a GET without any framing.
    ...(chunked && { 'transfer-encoding': 'chunked' }),
  });
  sent.on('response', (reply) => {
    const headers = { ...endToEnd(reply), connection: 'close' };
    response.writeHead(reply.statusCode ?? 502, reply.statusMessage, headers);
    reply.pipe(response);
    // A reply that breaks off must not look complete.
    reply.on('error', () => response.destroy());
    reply.once('aborted', () => response.destroy());
  });
  sent.on('error', (error) => {
    if (response.headersSent) response.destroy();
    else if (!response.destroyed)
      response
        .writeHead(502, plainText)
        .end(`${authorityOf(way.options.target)} closed the connection early: ${error.message}.\n`);
  });
  response.once('close', () => way.outside.destroy());
  request.pipe(sent);
}

/** A WebSocket: after the upgrade, bytes pass unchanged. */
function upgrade(
  request: IncomingMessage,
  { sandbox, outside, head, options }: Onward & { sandbox: Duplex; head: Buffer },
): void {
  const sent = onward(
    request,
    { outside, options },
    { connection: 'Upgrade', upgrade: 'websocket' },
  );
  const answer = (reply: IncomingMessage, rest: Buffer): void => {
    const lines = reply.rawHeaders.flatMap((name, index, all) =>
      index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : [],
    );
    const status = `HTTP/1.1 ${reply.statusCode} ${reply.statusMessage}`;
    sandbox.write(
      Buffer.concat([Buffer.from(`${[status, ...lines].join('\r\n')}\r\n\r\n`, 'latin1'), rest]),
    );
  };
  sent.on('upgrade', (reply, _socket, rest) => {
    answer(reply, rest);
    void pump(sandbox, outside, head);
  });
  sent.on('response', (reply) => {
    answer(reply, Buffer.alloc(0));
    reply.pipe(sandbox);
  });
  sent.on('error', () => sandbox.destroy());
  sent.end();
}

/** Headers that the proxy sets itself, or does not forward. */
const ownHeaders = ['expect', 'host', 'http2-settings'];

const endToEnd = ({ headersDistinct }: IncomingMessage): OutgoingHttpHeaders =>
  endToEndHeaders(headersDistinct, ownHeaders);

const plainText = { 'content-type': 'text/plain; charset=utf-8', connection: 'close' };

function rawRefusal(sentence: string): string {
  const body = `${sentence}\n`;
  const head = [
    'HTTP/1.1 403 Forbidden',
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
