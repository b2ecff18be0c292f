import type { OutputPiece } from '@belay/docker';
import { endOfOutput } from './end-of-output.js';

async function* pieces(...texts: (string | Buffer)[]): AsyncGenerator<OutputPiece> {
  for (const text of texts) yield { isError: false, data: Buffer.from(text) };
}

const MiB = 2 ** 20;

it('is the whole of an output, with characters that are spread over pieces and blocks', async () => {
  expect(await endOfOutput(pieces())).toBe('');
  const euro = Buffer.from('€');
  const text = await endOfOutput(
    pieces('a'.repeat(MiB - 1), euro.subarray(0, 1), euro.subarray(1), 'b'.repeat(MiB + 5), 'end'),
  );
  expect(text).toHaveLength(2 * MiB + 8);
  expect(text.indexOf('€')).toBe(MiB - 1);
  expect(text.endsWith('bbbend')).toBe(true);
});

it('is the end of an output that is too long', async () => {
  const lines = Array.from({ length: 40 }, (_, at) => `${at}`.padEnd(MiB - 1, '.'));
  const text = await endOfOutput(pieces(...lines.map((line) => `${line}\n`)));
  expect(text.endsWith(lines.slice(-32).join('\n') + '\n')).toBe(true);
  expect(text.length).toBeLessThan(34 * MiB);
});
