import { Readable } from 'node:stream';
import { outputPieceHead, outputPieces } from './output-pieces.js';

const piece = (stream: 1 | 2, text: string): Buffer => {
  const data = Buffer.from(text);
  return Buffer.concat([outputPieceHead({ isError: stream === 2, data }), data]);
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
