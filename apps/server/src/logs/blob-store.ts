import { createHash } from 'node:crypto';
import { statSync, unlinkSync, utimesSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { Config } from '../config.js';
import { usedBlobs } from '../storage/blob-uses.js';
import { Database, storageError } from '../storage/database.js';

/** The largest blob: screenshots and attached pictures are far below. */
export const maxBlobBytes = 16 * 1024 * 1024;

/** Bytes beside the log, by the SHA-256 of their content: stored once, never changed. */
@Injectable()
export class BlobStore {
  private readonly folder: string;
  private writes = 0;

  constructor(
    config: Config,
    private readonly database: Database,
  ) {
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
    // As if it were stored now: who asked for it is about to name it.
    if (touch(path)) return blob;
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

  /**
   * Deletes those of these blobs that nobody needs and nobody has stored since `before` (milliseconds). A blob that
   * is stored just now is safe: whether it is there and its deletion are one step each.
   */
  async removeUnused(blobs: readonly string[], before: number): Promise<void> {
    const used = await usedBlobs(this.database.kysely, blobs);
    for (const blob of blobs) {
      const path = this.path(blob);
      const found = used.has(blob) ? undefined : statSync(path, { throwIfNoEntry: false });
      if (found && found.mtimeMs < before) unlinkSync(path);
    }
  }

  /** The same for everything that is stored, and for what a killed process left unfinished. */
  async removeAllUnused(before: number): Promise<void> {
    for (const part of await readdir(this.folder).catch(() => [])) {
      await this.removeUnused(await readdir(join(this.folder, part)), before);
    }
  }

  private path(blob: string): string {
    return join(this.folder, blob.slice(0, 2), blob);
  }
}

/** The media type is the file's first line; anything that is not one is kept as plain bytes. */
function header(type: string): string {
  return `${/^[\w.+-]+\/[\w.+-]+$/.test(type) ? type.toLowerCase() : 'application/octet-stream'}\n`;
}

/** Whether it is there; from then on it counts as new. */
function touch(path: string): boolean {
  try {
    const now = new Date();
    utimesSync(path, now, now);
    return true;
  } catch {
    return false;
  }
}

const unknownBlob = (): AppError => new AppError('not_found', 'There is no such picture or file.');
