import { excerpt, jsonFault, withShortTexts } from './json-bounds.js';

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { a: value };
  return value;
};

describe('attacks: bounds of free JSON', () => {
  it.each([
    ['depth of 65', nested(65), 'nested deeper than 64 levels'],
    ['depth of 1,000,000', nested(1_000_000), 'nested deeper than 64 levels'],
    ['a text of 1 MiB', { a: 'x'.repeat(2 ** 20) }, 'more than 1,048,576 characters'],
    ['keys of 1 MiB', { ['x'.repeat(2 ** 20)]: 1 }, 'more than 1,048,576 characters'],
    ['300,000 numbers', Array.from({ length: 300_000 }, () => 1), 'values'],
    [
      '300,000 keys',
      Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [at, 1])),
      'more than',
    ],
    ['an array of 4 billion', Object.assign([], { length: 2 ** 32 - 1 }), 'values'],
    ['bytes', { a: new Uint8Array(10) }, 'not JSON'],
    ['a bigint', { a: 1n }, 'not JSON'],
    ['a map', new Map(), 'not JSON'],
  ])('refuses %s', (_, value, fault) => {
    expect(jsonFault(value)).toContain(fault);
  });

  it.each([
    ['depth of 64', nested(64)],
    ['1,000 keys', Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [at, 'x']))],
    ['a text of 1,000,000', { a: 'x'.repeat(1_000_000) }],
    ['what was left out', { a: undefined, b: null, c: true, d: 1.5 }],
    ['no prototype', Object.assign(Object.create(null), { a: 1 })],
  ])('takes %s', (_, value) => {
    expect(jsonFault(value)).toBeUndefined();
  });

  it('shortens long texts, and nothing else', () => {
    expect(withShortTexts({ path: 'a', lines: ['x'.repeat(20)], n: 1 }, 10)).toEqual({
      path: 'a',
      lines: ['xxxxxxxxx… (20 characters; the rest is not kept in the log)'],
      n: 1,
    });
    expect(excerpt('abcdef', 4)).toBe('abc…');
    expect(excerpt('abcd', 4)).toBe('abcd');
  });
});
