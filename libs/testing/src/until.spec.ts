import { until } from './until.js';

describe('until', () => {
  it('resolves to the first truthy value', async () => {
    let calls = 0;
    expect(await until('three calls', () => (++calls === 3 ? 'third' : undefined))).toBe('third');
    expect(calls).toBe(3);
  });

  it('rejects after the timeout with what was waited for and the state', async () => {
    const options = { timeoutMs: 20, state: () => 'empty' };
    await expect(until('a line', () => false, options)).rejects.toThrow(
      'Not within 0.02 s: a line\nempty',
    );
  });

  it('looks once more after a probe in which this process was kept waiting', async () => {
    let calls = 0;
    const probe = () => {
      if (++calls === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 40);
      return calls > 1;
    };
    expect(await until('a second call', probe, { timeoutMs: 20 })).toBe(true);
  });

  it('rejects with the error of the probe', async () => {
    const probe = () => Promise.reject(new Error('broken'));
    await expect(until('anything', probe)).rejects.toThrow('broken');
  });
});
