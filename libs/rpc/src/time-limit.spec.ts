import { once } from 'node:events';
import { timeLimit } from './time-limit.js';

describe('a time limit', () => {
  it.each([0.4, 1.0005, 1e-9, 0, -1])('ends after %d ms', async (ms) => {
    const limit = timeLimit(ms);
    if (!limit.aborted) await once(limit, 'abort');
    expect(limit.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it.each([2 ** 31, 1e300, Infinity])('of %d ms does not end at once', async (ms) => {
    const limit = timeLimit(ms);
    await once(timeLimit(5), 'abort');
    expect(limit.aborted).toBe(false);
  });

  it('ends with the other signal, for its reason', () => {
    const other = new AbortController();
    const limit = timeLimit(60_000.5, other.signal);
    other.abort('gone');
    expect(limit.reason).toBe('gone');
  });
});
