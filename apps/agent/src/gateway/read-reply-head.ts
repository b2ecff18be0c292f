import type { Duplex } from 'node:stream';
import { AppError, maxReplyHead, modelReplyHead, type ModelReplyHead } from '@belay/protocol';

/** Reads the head of a reply, and leaves its body on the stream. Rejects when the stream ends before. */
export async function readReplyHead(stream: Duplex): Promise<ModelReplyHead> {
  const length = (await exactly(stream, 4)).readUInt32BE();
  if (length > maxReplyHead)
    throw new AppError('invalid_input', 'The head of the server’s reply is too long.');
  return modelReplyHead.parse(JSON.parse((await exactly(stream, length)).toString()));
}

/** The next bytes of a stream that nothing else reads. */
async function exactly(stream: Duplex, size: number): Promise<Buffer> {
  for (;;) {
    const bytes = stream.read(size) as Buffer | null;
    if (bytes?.length === size) return bytes;
    if (bytes || stream.readableEnded || stream.destroyed) throw brokenOff(stream);
    await readable(stream);
  }
}

function readable(stream: Duplex): Promise<void> {
  return new Promise((resolve, reject) => {
    const events = ['readable', 'end', 'close', 'error'] as const;
    const settle = (): void => {
      for (const event of events) stream.off(event, settle);
      if (stream.errored) reject(brokenOff(stream));
      else resolve();
    };
    for (const event of events) stream.on(event, settle);
  });
}

const brokenOff = ({ errored }: Duplex): Error =>
  errored ?? new AppError('unavailable', 'The server ended the request without a reply.');
