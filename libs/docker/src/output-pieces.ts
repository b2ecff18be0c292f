/** Some bytes that a container without a terminal printed. */
export interface OutputPiece {
  /** From its standard error. */
  isError: boolean;
  data: Buffer;
}

/**
 * What a container prints, from the bytes of the engine’s `attach`: eight bytes before each piece, see
 * `containerOutput`. A piece is passed on as its bytes come, so none is held, however long it is.
 */
export async function* outputPieces(stream: AsyncIterable<Buffer>): AsyncIterable<OutputPiece> {
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
