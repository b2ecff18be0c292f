import type { OutputPiece } from '@belay/docker';

const blockBytes = 2 ** 20;
const maxBlocks = 32;

/**
 * The text of an output; of a longer one at least its last 32 MiB. A program can print millions of
 * pieces, each of which would need much more memory than its bytes, so they are copied to blocks.
 */
export async function endOfOutput(pieces: AsyncIterable<OutputPiece>): Promise<string> {
  const full: Buffer[] = [];
  let block = Buffer.allocUnsafe(blockBytes);
  let used = 0;
  for await (const { data } of pieces)
    for (let at = 0; at < data.length;) {
      const copied = data.copy(block, used, at);
      at += copied;
      used += copied;
      if (used < blockBytes) continue;
      full.push(block);
      if (full.length > maxBlocks) full.shift();
      block = Buffer.allocUnsafe(blockBytes);
      used = 0;
    }
  return Buffer.concat([...full, block.subarray(0, used)]).toString();
}
