import { outputPieces } from '@belay/rpc';

const blockBytes = 2 ** 20;
const maxBlocks = 32;

/**
 * The output of a container without a terminal, standard output and error in order, from the bytes of the engine’s
 * `logs`; of a longer one at least its last 32 MiB. An incomplete last piece is kept. A program can print millions of
 * pieces, each of which would need much more memory than its bytes, so they are copied to blocks.
 */
export async function containerOutput(
  logs: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<string> {
  const full: Buffer[] = [];
  let block = Buffer.allocUnsafe(blockBytes);
  let used = 0;
  for await (const { data } of outputPieces(logs))
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
