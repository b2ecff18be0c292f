import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { Config } from '../config.js';
import { storageError } from '../storage/database.js';

/** The largest blob: screenshots and attached pictures are far below. */
export const maxBlobBytes = 16 * 1024 * 1024;

/** Bytes beside the log, by the SHA-256 of their content: stored once, never changed. */
@Injectable()
export class BlobStore {
  private readonly folder: string;
  private writes = 0;

  constructor(config: Config) {
    this.folder = join(config.data, 'blobs');
  }

  /** Resolves with the blob's id when it is stored; `too_large` above 16 MiB. */
  async put(bytes: Uint8Array, type: string): Promise<string> {
    if (bytes.byteLength > maxBlobBytes) {
      throw new AppError(
        'too_large',
        'A picture or file may have at most 16 MiB; make it smaller.',
      );
    }
    const blob = createHash('sha256').update(bytes).digest('hex');
    const path = this.path(blob);
    if (await exists(path)) return blob;
    const unfinished = `${path}.${process.pid}-${(this.writes += 1)}`;
    try {
      await mkdir(join(path, '..'), { recursive: true });
      const file = await open(unfinished, 'wx', 0o600);
      try {
        await file.writeFile(header(type));
        await file.writeFile(bytes);
      } finally {
        await file.close();
      }
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw storageError(error);
    }
    return blob;
  }

  async get(blob: string): Promise<{ type: string; bytes: Buffer }> {
    if (!/^[0-9a-f]{64}$/.test(blob)) throw unknownBlob();
    const stored = await readFile(this.path(blob)).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? unknownBlob() : error;
    });
    const end = stored.indexOf(10);
    return { type: stored.toString('latin1', 0, end), bytes: stored.subarray(end + 1) };
  }

  private path(blob: string): string {
    return join(this.folder, blob.slice(0, 2), blob);
  }
}

/** The media type is the file's first line; anything that is not one is kept as plain bytes. */
function header(type: string): string {
  return `${/^[\w.+-]+\/[\w.+-]+$/.test(type) ? type.toLowerCase() : 'application/octet-stream'}\n`;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const unknownBlob = (): AppError => new AppError('not_found', 'There is no such picture or file.');
