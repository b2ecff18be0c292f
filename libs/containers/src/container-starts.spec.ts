import { ContainerStarts } from './container-starts.js';

describe('the starts of containers', () => {
  it('happen once for each id, also for those who ask meanwhile', async () => {
    const starts = new ContainerStarts();
    const begun: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const start = (id: string) => () => {
      begun.push(id);
      return promise;
    };
    const both = [starts.once('a', start('a')), starts.once('a', start('again'))];
    expect(starts.isRunning('a')).toBe(true);
    resolve();
    await Promise.all([...both, starts.once('b', start('b'))]);
    await starts.once('a', start('later'));
    expect(begun).toEqual(['a', 'b']);
    expect(starts.running).toBe(0);
    starts.forget('a');
    await starts.once('a', start('anew'));
    expect(begun).toEqual(['a', 'b', 'anew']);
  });

  it('fail for all who wait, and can be repeated', async () => {
    const starts = new ContainerStarts();
    const fails = () => Promise.reject(new Error('No node.'));
    const both = [starts.once('a', fails), starts.once('a', fails)];
    await starts.settled('a');
    for (const one of both) await expect(one).rejects.toThrow('No node.');
    await starts.once('a', () => Promise.resolve());
    starts.add('b');
    await expect(starts.once('b', fails)).resolves.toBeUndefined();
  });
});
