import {
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { pipeline, type Duplex } from 'node:stream';
import { AppError, endToEndHeaders } from '@belay/protocol';
import { pump } from '../../egress/pump.js';
import { PeerAgent } from '../../peers/peer-agent.js';
import type { LiveServer } from '../../storage/live-servers.js';

/** Node has answered it already. */
const ofThisConnection = ['expect'];

/** The server that works on the session. */
type Owner = Pick<LiveServer, 'address' | 'key'>;

interface PassOptions {
  owner: Owner;
  /** Called if no response has begun. */
  onFailed: (error: AppError) => void;
  /** Called if that server ends the response early. */
  onCut?: ((error: AppError) => void) | undefined;
}

/**
 * Passes a request on to the server that works on its session, with all that the client sent, and streams the response
 * back. Whoever of the two ends it early ends it for the other.
 */
export function passRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { owner, onFailed, onCut }: PassOptions,
): ClientRequest {
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const sent = requestTo(owner, request, {
    // A server that closes a connection on which a body still arrives would take its response back with it.
    connection: 'keep-alive',
    // Set explicitly, because Node would send the body of a GET without any framing.
    ...(isChunked && { 'transfer-encoding': 'chunked' }),
  });
  sent.on('response', (reply) => {
    // The other server has set its own.
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    response.writeHead(reply.statusCode ?? 502, endToEndHeaders(reply.headersDistinct));
    response.flushHeaders();
    reply.once('error', (error) => {
      // Otherwise the client has left.
      if (!response.destroyed) onCut?.(failure(error));
    });
    // A reply that breaks off must not look complete: the pipeline destroys the response.
    pipeline(reply, response, () => sent.destroy());
  });
  sent.once('error', (error) => {
    // More errors may follow while the body is still sent; those of a reply are those of its pipeline.
    sent.on('error', () => {});
    if (!response.headersSent && !response.destroyed) onFailed(failure(error));
  });
  response.once('close', () => sent.destroy());
  request.pipe(sent);
  sent.once('close', () => {
    // Discards the rest of the body, so that the client reads the response.
    request.unpipe(sent);
    request.resume();
  });
  return sent;
}

/** Like `passRequest`, for an upgrade: once the other server accepts it, bytes pass unchanged. */
export function passUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  { owner, head, onFailed }: { owner: Owner; head: Buffer; onFailed: (error: AppError) => void },
): void {
  const sent = requestTo(owner, request, { connection: 'Upgrade', upgrade: 'websocket' });
  socket.once('close', () => sent.destroy());
  sent.on('upgrade', (reply, upstream, rest) => {
    upstream.on('error', () => upstream.destroy());
    socket.once('close', () => upstream.destroy());
    socket.write(headOf(reply, ['connection: Upgrade', 'upgrade: websocket']));
    if (rest.length > 0) socket.write(rest);
    void pump(socket, upstream, head);
  });
  sent.on('response', (reply) => {
    socket.write(headOf(reply, ['connection: close']));
    pipeline(reply, socket, () => sent.destroy());
  });
  sent.on('error', (error) => {
    if (socket.writable) onFailed(failure(error));
  });
  sent.end();
}

function requestTo(
  owner: Owner,
  request: IncomingMessage,
  ofConnection: Record<string, string>,
): ClientRequest {
  const address = request.socket.remoteAddress ?? '';
  return httpRequest({
    agent: new PeerAgent(owner, { address, kind: 'request' }),
    method: request.method,
    path: request.url,
    headers: { ...endToEndHeaders(request.headersDistinct, ofThisConnection), ...ofConnection },
    setDefaultHeaders: false,
  });
}

/** The head of a response for a client whose socket has no response object. */
function headOf(reply: IncomingMessage, own: readonly string[]): string {
  const passed = Object.entries(endToEndHeaders(reply.headersDistinct)).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}`),
  );
  const status = `HTTP/1.1 ${reply.statusCode} ${reply.statusMessage}`;
  return `${[status, ...passed, ...own].join('\r\n')}\r\n\r\n`;
}

const failure = (error: Error): AppError =>
  error instanceof AppError
    ? error
    : new AppError(
        'unavailable',
        'The server of this session ended before it answered. See what was done, then try again.',
      );
