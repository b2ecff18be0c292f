import fc from 'fast-check';
import { describeRepetitions } from './describe-repetitions.ts';
import { mustHold, targets, type Target } from './targets.ts';

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
});

for (const [name, target] of Object.entries(targets))
  // Each seed of scripts takes seconds: the long tests try all of them.
  describeRepetitions(name, target, name === 'scripts' ? target.seeds.slice(0, 1) : target.seeds);
