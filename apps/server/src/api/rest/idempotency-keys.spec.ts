import { AppError } from '@belay/protocol';
import { IdempotencyKeys } from './idempotency-keys.js';

describe('idempotency keys', () => {
  let now = 0;
  let keys: IdempotencyKeys;
  let done: number;
  const work = (value: unknown = 'made') => {
    done += 1;
    return value instanceof Error ? Promise.reject(value) : Promise.resolve(value);
  };
  const once = (key: string, value?: unknown, { caller = 'a', fingerprint = 'x' } = {}) =>
    keys.once(caller, { key, fingerprint }, () => work(value));

  beforeEach(() => {
    now = 0;
    done = 0;
    keys = new IdempotencyKeys(() => now);
  });

  it('does a request once, also while it is done, and for each caller by itself', async () => {
    const both = await Promise.all([once('1'), once('1')]);
    expect(both.map(({ repeated }) => repeated)).toEqual([false, true]);
    await once('1', undefined, { caller: 'b' });
    expect(done).toBe(2);
    await expect(once('1', 'y', { fingerprint: 'y' })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('repeats a failure that is one, and tries again after one that came before the work', async () => {
    await expect(once('1', new AppError('tool_failed', 'no'))).rejects.toThrow('no');
    await expect(once('1')).rejects.toThrow('no');
    await expect(once('2', new AppError('unavailable', 'later'))).rejects.toThrow('later');
    expect(await once('2')).toEqual({ value: 'made', repeated: false });
    await expect(once('3', new AppError('conflict', 'No key is set.'))).rejects.toThrow('No key');
    expect(await once('3')).toEqual({ value: 'made', repeated: false });
  });

  it('forgets after a day, the oldest of too many, and what is too large', async () => {
    await once('1');
    now = 24 * 3600_000;
    expect(await once('1')).toMatchObject({ repeated: false });
    for (let number = 0; number < 1_000; number++) await once(`more-${number}`);
    expect(await once('1')).toMatchObject({ repeated: false });
    expect(await once('more-999')).toMatchObject({ repeated: true });
    await once('large', 'x'.repeat(9 * 2 ** 20));
    await expect(once('large')).rejects.toMatchObject({ code: 'conflict' });
  });
});
