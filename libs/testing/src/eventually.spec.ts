import { eventually } from './eventually.js';

describe('eventually', () => {
  it('resolves once the assertion holds', async () => {
    let tries = 0;
    await eventually(() => expect(++tries).toBe(3));
    expect(tries).toBe(3);
  });

  it('tries once more after a try in which this process was kept waiting', async () => {
    let tries = 0;
    await eventually(() => {
      if (++tries === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 40);
      expect(tries).toBe(2);
    }, 20);
  });

  it('fails after the timeout with the error of the assertion', async () => {
    await expect(eventually(() => expect('one').toBe('two'), 20)).rejects.toThrow(/two[^]*one/);
  });
});
