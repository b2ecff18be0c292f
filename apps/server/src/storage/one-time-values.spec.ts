import { OneTimeValues } from './one-time-values.js';

describe('values that are given out once', () => {
  it('come back for their secret, and only once', () => {
    const values = new OneTimeValues<string>(60_000);
    const secret = values.put('a login');
    expect(values.take('another secret')).toBeUndefined();
    expect(values.take(secret)).toBe('a login');
    expect(values.take(secret)).toBeUndefined();
  });

  it('are gone when their time is over', () => {
    const values = new OneTimeValues<string>(60_000);
    expect(values.take(values.put('late', { lifeMs: 0 }))).toBeUndefined();
  });

  it('are bounded: the oldest goes for one more', () => {
    const values = new OneTimeValues<number>(60_000, 2);
    const [first = '', second = '', third = ''] = [1, 2, 3].map((each) => values.put(each));
    expect([first, second, third].map((secret) => values.take(secret))).toEqual([undefined, 2, 3]);
  });
});
