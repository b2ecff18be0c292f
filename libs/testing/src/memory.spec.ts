import { memoryInUse } from './memory.js';

it('counts memory in use, but no garbage', () => {
  const before = memoryInUse().arrayBuffers;
  // Far more than earlier tests of this process can have left.
  const kept = [new ArrayBuffer(512 * 2 ** 20)];
  expect(memoryInUse().arrayBuffers - before).toBeGreaterThan(384 * 2 ** 20);
  kept.pop();
  expect(memoryInUse().arrayBuffers - before).toBeLessThan(128 * 2 ** 20);
});
