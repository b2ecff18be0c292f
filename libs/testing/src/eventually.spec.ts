import { eventually } from './eventually.js';

describe('eventually', () => {
  it('resolves once the assertion holds', async () => {
    let tries = 0;
    await eventually(() => expect(++tries).toBe(3));
    expect(tries).toBe(3);
  });

  it('fails after the timeout with the error of the assertion', async () => {
    await expect(eventually(() => expect('one').toBe('two'), 20)).rejects.toThrow(/two[^]*one/);
  });
});
