/** Some bytes of a program’s output. */
export interface OutputPiece {
  /** Whether it is from standard error. */
  isError: boolean;
  data: Buffer;
}

const headBytes = 8;

/**
 * Standard output and error in one stream have eight bytes before each piece: stream, three zeros, length (Docker Engine
 * API, “Stream format”).
 */
export function outputPieceHead({ isError, data }: OutputPiece): Buffer {
  const head = Buffer.alloc(headBytes);
  head[0] = isError ? 2 : 1;
  head.writeUInt32BE(data.length, 4);
  return head;
}

/** The pieces of such a stream. Their bytes are passed on as they arrive, so none are buffered, however long a piece is. */
export async function* outputPieces(
  stream: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncIterable<OutputPiece> {
  const head = Buffer.alloc(headBytes);
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
