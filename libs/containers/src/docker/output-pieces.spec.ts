import { Readable } from 'node:stream';
import { outputPieces } from './output-pieces.js';

const piece = (stream: number, text: string): Buffer => {
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
};

it.each([1, 3, 8, 11, 1_000])(
  'keeps the streams apart, whichever bytes come together: %i',
  async (size) => {
    const printed = Buffer.concat([
      piece(1, 'one\n'),
      piece(2, 'oh\n'),
      piece(1, ''),
      piece(1, 'two'),
    ]);
    const chunks: Buffer[] = [];
    for (let at = 0; at < printed.length; at += size) chunks.push(printed.subarray(at, at + size));
    const received = { out: '', error: '' };
    for await (const { isError, data } of outputPieces(Readable.from(chunks)))
      received[isError ? 'error' : 'out'] += data.toString();
    expect(received).toEqual({ out: 'one\ntwo', error: 'oh\n' });
  },
);
