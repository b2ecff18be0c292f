import { createHash } from 'node:crypto';
import fc from 'fast-check';
import {
  chainAlgorithm,
  chainDigest,
  chainFields,
  chainStart,
  contentDigest,
} from './log-chain.js';

const sha256 = (...parts: (string | Buffer)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const value = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', ',', '-,', '1:a,', '4:null'),
  fc.nat(),
  fc.constant(null),
);
const record = fc.tuple(...chainFields.map(() => value));

/** The value with one bit of its UTF-8 changed, or undefined if the bytes are not UTF-8. */
function withFlippedBit(text: string, at: number): string | undefined {
  const bytes = Buffer.from(text);
  const bit = at % (bytes.length * 8);
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  const changed = bytes.toString();
  return Buffer.from(changed).equals(bytes) ? changed : undefined;
}

describe('the chain of a log', () => {
  it('is the construction that the documentation describes', () => {
    const start = chainStart('s', '2026-01-01T00:00:00.000Z');
    expect(start).toBe(
      sha256(`${chainAlgorithm}\0`, '1:s,24:2026-01-01T00:00:00.000Z,').toString('hex'),
    );
    const values = ['s', 1, 't', 'user', 'say', '{"é":1}', '', null, 2, null];
    const content = sha256('1:s,1:1,1:t,4:user,3:say,8:{"é":1},0:,-,1:2,-,');
    expect(contentDigest(values)).toBe(content.toString('hex'));
    const next = sha256(`${chainAlgorithm}\0`, Buffer.from(start, 'hex'), content);
    expect(chainDigest(start, contentDigest(values))).toBe(next.toString('hex'));
  });

  it('differs after any change of one bit of any field of any record', () => {
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 5 }),
        fc.nat(),
        fc.nat(),
        fc.nat(),
        (records, whichRecord, whichField, bit) => {
          const at = whichRecord % records.length;
          const field = whichField % chainFields.length;
          const before = records[at]?.[field];
          if (before === undefined || before === null || before === '') return;
          const changed = withFlippedBit(String(before), bit);
          if (changed === undefined) return;
          const other = records.map((one, index) =>
            index === at ? one.with(field, changed) : one,
          );
          expect(headOf(other)).not.toBe(headOf(records));
        },
      ),
    );
  });

  it('tells apart any two logs, however their values are divided into fields and records', () => {
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 4 }),
        fc.array(record, { maxLength: 4 }),
        (a, b) => {
          const text = (log: typeof a): string =>
            JSON.stringify(log.map((one) => one.map((each) => each?.toString() ?? null)));
          expect(headOf(a) === headOf(b)).toBe(text(a) === text(b));
        },
      ),
    );
    // Contents move between neighbours without changing what all of them together are.
    const moved = [
      ['ab', 'c'],
      ['a', 'bc'],
      ['abc', ''],
      ['abc', null],
    ].map(contentDigest);
    expect(new Set(moved).size).toBe(moved.length);
  });
});

const headOf = (records: readonly (readonly (string | number | null)[])[]): string =>
  records.map(contentDigest).reduce(chainDigest, chainStart('s', 't'));
