import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface WatchedTar {
  archive: Readable;
  /** Aborts with the reason when the tar breaks off. */
  broken: AbortSignal;
}

/**
 * Reads a tar from now on. One that breaks off before somebody reads it may not say so later, and who has begun to read
 * would wait for the rest.
 */
export function watchedTar(tar: Readable): WatchedTar {
  const archive = new PassThrough();
  const broken = new AbortController();
  pipeline(tar, archive).catch((error: unknown) => broken.abort(error));
  return { archive, broken: broken.signal };
}
