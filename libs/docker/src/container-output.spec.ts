import { containerOutput } from './container-output.js';

const piece = (stream: number, text: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(text.length, 4);
  return Buffer.concat([head, text]);
};

describe('the output of a container', () => {
  it('is both streams in their order', () => {
    const logs = [piece(1, Buffer.from('one\n')), piece(2, Buffer.from('two\n'))];
    expect(containerOutput(Buffer.concat(logs))).toBe('one\ntwo\n');
  });

  it('keeps a character that is spread over two pieces', () => {
    const euro = Buffer.from('€');
    const logs = [piece(1, euro.subarray(0, 1)), piece(1, euro.subarray(1))];
    expect(containerOutput(Buffer.concat(logs))).toBe('€');
  });

  it('ends with what there is of a piece that is cut off', () => {
    expect(containerOutput(piece(1, Buffer.from('whole')).subarray(0, 10))).toBe('wh');
    expect(containerOutput(Buffer.alloc(5))).toBe('');
  });
});
