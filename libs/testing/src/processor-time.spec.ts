import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setImmediate as turn } from 'node:timers/promises';
import { itLong } from './long.js';
import { longestStallMs, processorMs, processorMsUntil } from './processor-time.js';

/** Computes for about a millisecond a unit, in place: no garbage is collected meanwhile. */
const compute = (units: number): void => {
  const numbers = new Uint32Array(1);
  for (let at = 0; at < units * 300_000; at += 1) numbers[0] = (numbers[0]! ^ at) + 1;
};
const wait = (milliseconds: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

it('counts work, but no waiting', () => {
  expect(processorMs(() => compute(50))).toBeGreaterThan(1);
  expect(processorMs(() => wait(300))).toBeLessThan(100);
});

it('counts what was done before asynchronous work ended', async () => {
  const behind = processorMsUntil(async () => {
    await turn();
    compute(50);
  });
  expect(await behind).toBeGreaterThan(1);
});

it('the longest stall is that of one task, not the sum of many', async () => {
  const many = async () => {
    for (let times = 0; times < 60; times += 1) {
      compute(10);
      await turn();
    }
  };
  const all = await processorMsUntil(many);
  expect(await longestStallMs(many)).toBeLessThan(all / 3);
  expect(await longestStallMs(async () => compute(600))).toBeGreaterThan(all / 3);
});

itLong('a garbage collection does not count as a stall', async () => {
  const collect = garbageCollection();
  const objects = Array.from({ length: 2_000_000 }, (_, at) => ({ at }));
  const collections = async () => {
    for (let times = 0; times < 5; times += 1) collect();
  };
  const used = await processorMsUntil(collections);
  expect(await longestStallMs(collections)).toBeLessThan(used / 4);
  expect(objects).toHaveLength(2_000_000);
});

function garbageCollection(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
