import { LineBuffer } from './line-buffer.js';

it.each([1, 2, 5, 100])('cuts bytes that come %i at a time into lines', (size) => {
  const text = Buffer.from('one\r\n\n€ two\nthe rest');
  const buffer = new LineBuffer(10);
  const lines: string[] = [];
  for (let at = 0; at < text.length; at += size)
    lines.push(...buffer.push(text.subarray(at, at + size)));
  expect(lines).toEqual(['one', '', '€ two']);
  expect([...buffer.push(Buffer.from('\n'))]).toEqual(['the rest']);
});

it('holds no line beyond its limit, whole or not', () => {
  const buffer = new LineBuffer(10);
  expect(() => [...buffer.push(Buffer.from('12345678901'))]).toThrow('longer than 10 bytes');
  const other = new LineBuffer(10);
  expect([...other.push(Buffer.from('1234567890'))]).toEqual([]);
  expect(() => [...other.push(Buffer.from('1\n'))]).toThrow('longer than 10 bytes');
});
