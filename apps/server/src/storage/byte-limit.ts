import { Transform } from 'node:stream';

/** Passes bytes through up to a limit; beyond it, the stream fails with `error()`. */
export function byteLimit(maxBytes: number, error: () => Error): Transform {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen > maxBytes) done(error());
      else done(null, chunk);
    },
  });
}
