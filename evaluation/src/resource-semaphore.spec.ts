import { ResourceSemaphore } from './resource-semaphore.js';

it('packs work by processors and memory, and runs work that is too large alone', async () => {
  const resources = new ResourceSemaphore({ cpus: 4, memoryMb: 4000, concurrency: 3 });
  let cpus = 0;
  let running = 0;
  const seen: { cpus: number; running: number }[] = [];
  const work = (need: number) =>
    resources.with({ cpus: need, memoryMb: 100 }, async () => {
      cpus += need;
      running += 1;
      seen.push({ cpus, running });
      await new Promise((done) => setImmediate(done));
      cpus -= need;
      running -= 1;
    });
  await Promise.all([1, 2, 1, 8, 1, 1, 1, 1, 3].map(work));
  expect(seen).toHaveLength(9);
  expect(seen.every((now) => now.running <= 3 && (now.cpus <= 4 || now.running === 1))).toBe(true);
  expect(Math.max(...seen.map((now) => now.running))).toBe(3);
});
