import { containerOutput } from './container-output.js';

const piece = (stream: number, text: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(text.length, 4);
  return Buffer.concat([head, text]);
};
const printed = (...texts: (string | Buffer)[]): Buffer[] =>
  texts.map((text) => piece(1, Buffer.from(text)));

const MiB = 2 ** 20;
const euro = Buffer.from('€');

describe('the output of a container', () => {
  it('is both streams in their order', async () => {
    const logs = [piece(1, Buffer.from('one\n')), piece(2, Buffer.from('two\n'))];
    expect(await containerOutput([Buffer.concat(logs)])).toBe('one\ntwo\n');
  });

  it('keeps a character that is spread over two pieces', async () => {
    const logs = [piece(1, euro.subarray(0, 1)), piece(1, euro.subarray(1))];
    expect(await containerOutput([Buffer.concat(logs)])).toBe('€');
  });

  it('ends with what there is of a piece that is cut off', async () => {
    expect(await containerOutput([piece(1, Buffer.from('whole')).subarray(0, 10)])).toBe('wh');
    expect(await containerOutput([Buffer.alloc(5)])).toBe('');
  });

  it('is the whole of an output, with characters that are spread over pieces and blocks', async () => {
    expect(await containerOutput(printed())).toBe('');
    const text = await containerOutput(
      printed(
        'a'.repeat(MiB - 1),
        euro.subarray(0, 1),
        euro.subarray(1),
        'b'.repeat(MiB + 5),
        'end',
      ),
    );
    expect(text).toHaveLength(2 * MiB + 8);
    expect(text.indexOf('€')).toBe(MiB - 1);
    expect(text.endsWith('bbbend')).toBe(true);
  });

  it('is the end of an output that is too long', async () => {
    const lines = Array.from({ length: 40 }, (_, at) => `${at}`.padEnd(MiB - 1, '.'));
    const text = await containerOutput(printed(...lines.map((line) => `${line}\n`)));
    expect(text.endsWith(lines.slice(-32).join('\n') + '\n')).toBe(true);
    expect(text.length).toBeLessThan(34 * MiB);
  });
});
