import { processorMs } from '@belay/testing';
import fc from 'fast-check';
import { isRefusal, targets, type Target } from './targets.ts';

/** The same inputs in every run; npm run fuzz searches for new ones. */
const seed = 20_260_101;

/** Bytes, text, JSON, and the seeds with insertions. */
const inputs = ({ seeds }: Target) =>
  fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.string({ unit: 'binary', maxLength: 300 }).map((text) => Buffer.from(text)),
    fc.json({ maxDepth: 8 }).map((text) => Buffer.from(text)),
    fc
      .tuple(
        fc.constantFrom(...seeds.map((each) => Buffer.from(each))),
        fc.nat(400),
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.nat(5),
      )
      .map(([bytes, at, text, left]) =>
        Buffer.concat([bytes.subarray(0, at), Buffer.from(text), bytes.subarray(at + left)]),
      ),
  );

function mustHold(target: Target, input: Buffer): void {
  try {
    target.read(input);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

describe.each(Object.entries(targets))('the reader of %s', (_name, target) => {
  it.each(target.seeds.map((each) => Buffer.from(each).toString()))('holds for %j', (text) => {
    mustHold(target, Buffer.from(text));
  });

  it('holds for random inputs', () => {
    fc.assert(
      fc.property(inputs(target), (input) => mustHold(target, input)),
      { seed, numRuns: 500 },
    );
  });

  it('holds for long repetitions, in time that grows with their length', () => {
    for (const each of target.seeds) {
      const bytes = Buffer.from(each);
      const repeated = (times: number) => Buffer.concat(Array.from({ length: times }, () => bytes));
      const takes = (times: number) => {
        const input = repeated(times);
        return processorMs(() => mustHold(target, input));
      };
      // Side by side, since even a processor’s own speed changes under load.
      const pairs = [1, 2, 3].map(() => ({ short: takes(250), long: takes(2_000) }));
      const short = Math.min(...pairs.map((pair) => pair.short));
      const long = Math.min(...pairs.map((pair) => pair.long));
      // For eight times the length, quadratic time would be 64 times as long. Short times are
      // mostly noise.
      expect(long).toBeLessThan(Math.max(300, 32 * short));
    }
  });
});
