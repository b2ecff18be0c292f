import { randomUUID } from 'node:crypto';
import { createWriteStream, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface WriteOptions {
  /** A transform that the content passes through and that may reject it. */
  through?: Transform;
  signal?: AbortSignal;
}

/**
 * Writes a file that only the server’s user can read, either completely or not at all. Creates the folder. Rejects
 * with the error of the disk or the content, and then leaves nothing.
 */
export async function writeWhole(
  path: string,
  content: Readable | string,
  { through, signal }: WriteOptions = {},
): Promise<void> {
  // Without a pause: the pipeline has to be there before the content can fail.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${randomUUID()}.part`;
  const file = createWriteStream(unfinished, { mode: 0o600 });
  const source = typeof content === 'string' ? Readable.from([content]) : content;
  try {
    await (through
      ? pipeline(source, through, file, { signal })
      : pipeline(source, file, { signal }));
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/**
 * The same for a short text, synchronously: for data that must be stored before anything else happens. With `flush`, it
 * is on the disk before it has its name.
 */
export function writeWholeSync(
  path: string,
  content: string,
  { flush = false }: { flush?: boolean } = {},
): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${randomUUID()}.part`;
  try {
    writeFileSync(unfinished, content, { mode: 0o600, flush });
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}
