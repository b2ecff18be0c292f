import { coalesced } from './coalesced.ts';

describe('coalesced work', () => {
  it('runs once for simultaneous calls, and once more for calls during the run', async () => {
    let runs = 0;
    const going: (() => void)[] = [];
    const ask = coalesced(() => {
      runs += 1;
      return new Promise<void>((done) => going.push(done));
    });
    const first = Promise.all([ask(), ask()]);
    while (going.length < 1) await new Promise(setImmediate);
    const second = Promise.all([ask(), ask()]);
    going[0]?.();
    await first;
    while (going.length < 2) await new Promise(setImmediate);
    going[1]?.();
    await second;
    expect(runs).toBe(2);
  });

  it('continues after work that failed', async () => {
    let runs = 0;
    const ask = coalesced(async () => {
      runs += 1;
      if (runs === 1) throw new Error('broken');
    });
    await expect(ask()).rejects.toThrow('broken');
    await expect(ask()).resolves.toBeUndefined();
  });
});
