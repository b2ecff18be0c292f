import { Transform, type TransformCallback } from 'node:stream';
import type { FreeSpace } from './free-space.js';

/**
 * Passes bytes through up to a limit; beyond it, the stream fails with `error()`, and without `space` with its error.
 * `passed` gets the number of bytes so far.
 */
export function byteLimit(
  maxBytes: number,
  error: () => Error,
  { space, passed }: { space?: FreeSpace; passed?: (bytes: number) => void } = {},
): Transform {
  let seen = 0;
  const take = (chunk: Buffer, done: TransformCallback): void => {
    seen += chunk.length;
    if (seen > maxBytes) return done(error());
    passed?.(seen);
    done(null, chunk);
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (space) space.require().then(() => take(chunk, done), done);
      else take(chunk, done);
    },
  });
}
