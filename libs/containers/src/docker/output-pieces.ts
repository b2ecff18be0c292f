/** Some bytes of output from a container without a terminal. */
export interface OutputPiece {
  /** Whether it is from standard error. */
  isError: boolean;
  data: Buffer;
}

/**
 * A container’s output from the bytes of the engine’s `attach` or `logs`, which have eight bytes before each piece:
 * stream, three zeros, length (Docker Engine API, “Stream format”). Bytes of a piece are passed on as they arrive, so
 * none are buffered, however long the piece is.
 */
export async function* outputPieces(
  stream: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncIterable<OutputPiece> {
  const head = Buffer.alloc(8);
  let headLength = 0;
  let left = 0;
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.length;) {
      if (left === 0) {
        const copied = chunk.copy(head, headLength, at, at + head.length - headLength);
        headLength += copied;
        at += copied;
        if (headLength < head.length) continue;
        headLength = 0;
        left = head.readUInt32BE(4);
        continue;
      }
      const data = chunk.subarray(at, at + left);
      at += data.length;
      left -= data.length;
      yield { isError: head[0] === 2, data };
    }
  }
}
