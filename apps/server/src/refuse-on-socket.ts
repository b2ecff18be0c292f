import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { problemOf, problemType, type AppError } from '@belay/protocol';

/** Sends an error where there is no response object: for an upgrade, or a request that cannot be read. */
export function refuseOnSocket(socket: Duplex, error: AppError): void {
  const problem = problemOf(error);
  answerOnSocket(socket, { status: problem.status, type: problemType, body: problem });
}

/** The last answer of a connection. */
export function answerOnSocket(
  socket: Duplex,
  { status, type = 'application/json', body }: { status: number; type?: string; body: object },
): void {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`,
    'Connection: close',
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  if (socket.writable) socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}
