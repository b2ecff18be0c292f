import type { Readable } from 'node:stream';
import { AppError } from '@belay/protocol';

/** The limit of a patch, which is held in memory to be compared and applied. */
const maxBytes = 64 * 2 ** 20;

/** A session’s whole patch. Throws `too_large` before more than the limit is read. */
export async function wholePatch(patch: Readable): Promise<Buffer> {
  const { bytes, isWhole } = await read(patch, maxBytes);
  if (isWhole) return bytes;
  const mebibytes = maxBytes / 2 ** 20;
  throw new AppError('too_large', `The changes are larger than ${mebibytes} MiB. Publish less.`);
}

/** The beginning of a patch, which is enough to know what it is about. */
export async function beginOfPatch(patch: Readable, bytes: number): Promise<string> {
  const begin = await read(patch, bytes);
  return begin.bytes.toString() + (begin.isWhole ? '' : '\n(cut)');
}

async function read(patch: Readable, most: number): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of patch as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop destroys the stream.
    if (size > most) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, most), isWhole: size <= most };
}
