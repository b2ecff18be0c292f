import { SharedReading } from './shared-reading.js';

it('reads once for all that asked before it began, and again for those that asked later', async () => {
  let [stored, readings] = [1, 0];
  const begun = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const reading = new SharedReading(async () => {
    readings += 1;
    const found = stored;
    begun.resolve();
    await goesOn.promise;
    if (found === 2) throw new Error('It cannot be read.');
    return found;
  });
  const first = [reading.get(), reading.get()];
  await begun.promise;
  stored = 2;
  const second = [reading.get(), reading.get()];
  goesOn.resolve();
  expect(await Promise.all(first)).toEqual([1, 1]);
  for (const one of second) await expect(one).rejects.toThrow('It cannot be read.');
  expect(readings).toBe(2);
  stored = 3;
  expect(await reading.get()).toBe(3);
});
