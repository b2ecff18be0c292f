import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { watchedTar } from './watched-tar.js';

describe('a tar that is watched', () => {
  it('is passed on as it is', async () => {
    const { archive, broken } = watchedTar(Readable.from(['a', 'b']));
    expect(await text(archive)).toBe('ab');
    expect(broken.aborted).toBe(false);
  });

  it('says that it broke off, also when nobody reads it yet', async () => {
    const { archive, broken } = watchedTar(
      Readable.from(
        (async function* () {
          yield 'a';
          throw new Error('The upload ended.');
        })(),
      ),
    );
    await new Promise((resolve) => broken.addEventListener('abort', resolve));
    expect(() => broken.throwIfAborted()).toThrow('The upload ended.');
    await expect(text(archive)).rejects.toThrow('The upload ended.');
  });
});
