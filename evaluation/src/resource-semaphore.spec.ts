import { ResourceSemaphore } from './resource-semaphore.js';

const here = { place: 'here', cpus: 4, memoryMb: 4000 };

it('packs work by processors and memory, and runs work that is too large alone', async () => {
  const resources = new ResourceSemaphore([here], 3);
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

describe('with several places', () => {
  const held: (() => void)[] = [];
  const started: [name: string, place: string][] = [];
  beforeEach(() => {
    held.length = 0;
    started.length = 0;
  });
  /** Runs until it is ended by its number. */
  const hold = (
    resources: ResourceSemaphore<string>,
    name: string,
    { cpus = 1, not = '' }: { cpus?: number; not?: string } = {},
  ) =>
    resources.with(
      { cpus, memoryMb: 10 },
      (place) => {
        started.push([name, place]);
        return new Promise<void>((done) => held.push(done));
      },
      (place) => place !== not,
    );
  const turn = () => new Promise((done) => setImmediate(done));
  const there = { place: 'there', cpus: 2, memoryMb: 4000 };

  it('spreads by load, no more than the number in all of them', async () => {
    const resources = new ResourceSemaphore([here, there], 4);
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => hold(resources, name));
    await turn();
    expect(started).toEqual([
      ['a', 'here'],
      ['b', 'there'],
      ['c', 'here'],
      ['d', 'here'],
    ]);
    held[1]?.();
    await turn();
    expect(started.at(-1)).toEqual(['e', 'there']);
    for (const end of held) end();
    await Promise.all(all);
  });

  it('keeps those free that earlier work waits for, and no others', async () => {
    const resources = new ResourceSemaphore([here, there], 9);
    const first = hold(resources, 'first', { cpus: 2, not: 'there' });
    const large = hold(resources, 'large', { cpus: 4 });
    const small = hold(resources, 'small', { not: 'there' });
    const other = hold(resources, 'other', { not: 'here' });
    await turn();
    expect(started.map(([name]) => name)).toEqual(['first', 'other']);
    held[0]?.();
    await turn();
    expect(started.slice(2)).toEqual([['large', 'here']]);
    held[2]?.();
    await turn();
    expect(started.slice(3)).toEqual([['small', 'here']]);
    for (const end of held) end();
    await Promise.all([first, large, small, other]);
  });

  it('refuses work that may use none any more, also while it waits', async () => {
    const resources = new ResourceSemaphore([there], 1);
    let isThere = true;
    const first = hold(resources, 'first');
    const waiting = resources.with(
      { cpus: 1, memoryMb: 1 },
      async () => 'ran',
      () => isThere,
    );
    isThere = false;
    await turn();
    held[0]?.();
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
    await first;
  });
});
