import type { IncomingMessage } from 'node:http';
import { AppError } from '@belay/protocol';

/** Only archives may take longer. */
const bodyTimeoutMs = 300_000;

/** The body of a request within a limit of bytes, by Content-Length and while it arrives. Throws `too_large`. */
export async function readWithin(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  if (request.headers['content-encoding'] !== undefined) {
    throw new AppError('invalid_input', 'Send it without a content-encoding.');
  }
  const chunks: Buffer[] = [];
  let size = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const take = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > limit) reject(tooLarge(limit));
    else chunks.push(chunk);
  };
  const late = (): void =>
    reject(
      new AppError('timeout', 'The request did not arrive within five minutes. Send it again.'),
    );
  const timer = setTimeout(late, bodyTimeoutMs);
  const broken = (): void => reject(new AppError('cancelled', 'The request was aborted.'));
  request.on('data', take).once('end', resolve).once('error', broken).once('close', broken);
  try {
    await promise;
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(timer);
    request.off('data', take).off('end', resolve).off('close', broken).resume();
  }
}

const tooLarge = (limit: number): AppError =>
  new AppError(
    'too_large',
    `The request is larger than the limit of ${limit / 1024} KiB. Send less, or upload it as a file.`,
  );
