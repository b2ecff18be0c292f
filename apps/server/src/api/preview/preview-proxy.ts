import {
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { pipeline, type Duplex } from 'node:stream';
import { AppError } from '@belay/protocol';
import { pump } from '../../egress/pump.js';
import { byteLimit } from '../../storage/byte-limit.js';
import { requestHeaders, responseHeaders } from './preview-headers.js';
import { previewLimits, type PreviewConnection } from './preview-streams.js';

/** The limit for the headers of a program’s response; larger ones are refused. */
const maxHeaderBytes = 64 * 1024;
/** The time until the response begins, which is long because development servers compile meanwhile. */
const answerMs = 120_000;

/** Forwards a request over a connection of its own. `onFailed` is called if the response has not begun. */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { onFailed, ...connection }: PreviewConnection & { onFailed: (error: AppError) => void },
): void {
  const { stream } = connection;
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const fail = (sentence: string): void => {
    stream.destroy();
    // The program responded before it had read the whole request.
    if (response.writableFinished) return;
    if (response.headersSent) response.destroy();
    else if (!response.destroyed) onFailed(new AppError('unavailable', sentence));
  };
  const sent = requestOver(request, connection, {
    connection: 'close',
    // Set explicitly, because Node would send the body of a GET without any framing.
    ...(isChunked && { 'transfer-encoding': 'chunked' }),
  });
  const late = setTimeout(
    () => fail('The server in the sandbox did not respond within two minutes. Check its terminal.'),
    answerMs,
  );
  sent.on('response', (reply) => {
    clearTimeout(late);
    try {
      response.writeHead(reply.statusCode ?? 502, responseHeaders(reply, connection));
    } catch {
      return fail('The server in the sandbox sent headers that cannot be passed on to a browser.');
    }
    // A reply that breaks off or is too long must not look complete: the pipeline destroys the response.
    pipeline(reply, limit(), response, () => stream.destroy());
  });
  sent.on('error', ({ message }) =>
    fail(`The server in the sandbox closed the connection early: ${message}.`),
  );
  response.once('close', () => {
    clearTimeout(late);
    stream.destroy();
  });
  const body = limit().once('error', ({ message }) => fail(message));
  request.pipe(body).pipe(sent);
  sent.once('close', () => {
    // Discards the rest of the body, so that the browser reads the response.
    request.unpipe(body);
    request.resume();
  });
}

/** Forwards an upgrade; once accepted, bytes pass unchanged. */
export function forwardUpgrade(
  request: IncomingMessage,
  browser: Duplex,
  { head, onFailed, ...connection }: PreviewConnection & { head: Buffer; onFailed: () => void },
): void {
  const { stream } = connection;
  const sent = requestOver(request, connection, { connection: 'Upgrade', upgrade: 'websocket' });
  const fail = (): void => {
    clearTimeout(late);
    stream.destroy();
    onFailed();
  };
  const late = setTimeout(fail, answerMs);
  browser.once('close', () => stream.destroy());
  sent.on('upgrade', (reply, _socket, rest) => {
    clearTimeout(late);
    if (reply.headers.upgrade?.toLowerCase() !== 'websocket') return fail();
    try {
      browser.write(switching(reply, connection));
    } catch {
      // As for a request: invalid headers of a program must not throw where nothing catches it.
      return fail();
    }
    if (rest.length > 0) browser.write(rest);
    for (const side of [browser, stream]) limitBytes(side);
    void pump(browser, stream, head);
  });
  sent.on('response', fail);
  sent.on('error', fail);
  sent.end();
}

function requestOver(
  request: IncomingMessage,
  { grant, stream }: PreviewConnection,
  headers: Record<string, string>,
): ClientRequest {
  return httpRequest({
    createConnection: () => stream,
    method: request.method,
    path: request.url,
    headers: { ...requestHeaders(request, grant), ...headers },
    setDefaultHeaders: false,
    maxHeaderSize: maxHeaderBytes,
  });
}

function switching(reply: IncomingMessage, connection: PreviewConnection): string {
  const lines = Object.entries(responseHeaders(reply, connection)).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}: ${each}`),
  );
  const own = ['HTTP/1.1 101 Switching Protocols', 'connection: Upgrade', 'upgrade: websocket'];
  return `${[...own, ...lines].join('\r\n')}\r\n\r\n`;
}

const limit = () => byteLimit(previewLimits.bytes, tooMuch);

const tooMuch = (): AppError =>
  new AppError('too_large', 'The preview carries no more than 512 MiB at once.');

/** Limits the bytes in one direction of a WebSocket; listening does not change who reads it. */
function limitBytes(side: Duplex): void {
  let seen = 0;
  side.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen > previewLimits.bytes) side.destroy();
  });
}
