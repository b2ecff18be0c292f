import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { problemOf, problemType, type AppError } from '@belay/protocol';

/** Sends an error where there is no response object: for an upgrade, or a request that cannot be read. */
export function refuseOnSocket(socket: Duplex, error: AppError): void {
  const problem = problemOf(error);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Refused'}`,
    'Connection: close',
    `Content-Type: ${problemType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  if (socket.writable) socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
