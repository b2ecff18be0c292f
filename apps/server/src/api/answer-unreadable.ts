import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError, ownValue } from '@belay/protocol';
import { refuseOnSocket } from '../refuse-on-socket.js';

/** How long a client may take to read the answer and to close the connection. */
const lingerMs = 10_000;

/** Answers what Node cannot read as a request, which reaches no route, like every other failure: with a problem. */
export function answerUnreadable(server: Server): void {
  /** The responses that each socket waits for: several if requests are sent without waiting. */
  const owed = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on('request', ({ socket }, response) => {
    const responses = owed.get(socket) ?? new Set();
    owed.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // The answer would be mixed with a response in progress, or taken for that of an earlier request.
    const isAnswering = [...(owed.get(socket) ?? [])].some(
      ({ headersSent, writableFinished, req }) =>
        !writableFinished && (headersSent || req.complete),
    );
    if (error.code === 'ECONNRESET' || isAnswering) return void socket.destroy();
    refuseOnSocket(socket, ownValue(faults, error.code ?? '') ?? notHttp);
    const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => clearTimeout(timer));
  });
}

const notHttp = new AppError(
  'invalid_input',
  'The request is not HTTP/1.1 that can be read. Check its first line and its headers.',
);

const faults: Record<string, AppError> = {
  HPE_HEADER_OVERFLOW: new AppError(
    'too_large',
    'The address and the headers of the request have more than 16 KiB. Send less, or send it in the body.',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new AppError('timeout', 'The request did not arrive in time.'),
};
