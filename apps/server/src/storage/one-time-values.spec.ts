import { OneTimeValues } from './one-time-values.js';

describe('values that are given out once', () => {
  it('come back for their secret, and only once', () => {
    const values = new OneTimeValues<string>(60_000);
    const secret = values.put('a login', 'a');
    expect(values.take('another secret')).toBeUndefined();
    expect(values.take(secret)).toBe('a login');
    expect(values.take(secret)).toBeUndefined();
  });

  it('are gone when their time is over', () => {
    const values = new OneTimeValues<string>(60_000);
    expect(values.take(values.put('late', 'a', { lifeMs: 0 }))).toBeUndefined();
  });

  it('are bounded: the oldest of the owner with the most goes for one more', () => {
    const values = new OneTimeValues<number>(60_000, 3);
    const secrets = ['a', 'b', 'b', 'b', 'c'].map((owner, index) => values.put(index, owner));
    const taken = secrets.map((secret) => values.take(secret));
    expect(taken).toEqual([0, undefined, undefined, 3, 4]);
  });
});
