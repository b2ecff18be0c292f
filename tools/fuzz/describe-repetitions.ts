import { processorMs } from '@belay/testing';
import { mustHold, type Target } from './targets.ts';

/** Reads each of these seeds hundreds and thousands of times over. */
export function describeRepetitions(name: string, target: Target, seeds: Target['seeds']): void {
  it(`the reader of ${name} holds for long repetitions, in time that grows with their length`, () => {
    for (const each of seeds) {
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
}
