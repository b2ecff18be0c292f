import { createHash } from 'node:crypto';
import { existsSync, statSync, unlinkSync, utimesSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AppError, blobId } from '@belay/protocol';
import { Config } from '../config.js';
import { blobsOf, useBlobs, usedBlobs, usesBlob } from '../storage/blob-uses.js';
import { Database, notStored, storageError } from '../storage/database.js';
import { FreeSpace } from '../storage/free-space.js';
import { writeWhole } from '../storage/write-whole.js';

/** The maximum size of a blob; screenshots and attached pictures are far below it. */
export const maxBlobBytes = 16 * 1024 * 1024;

export interface StoredBlob {
  type: string;
  bytes: Buffer;
}

/** Bytes beside the log, by the SHA-256 of their content: stored once, never changed. */
@Injectable()
export class BlobStore {
  readonly #folder: string;

  readonly #limit: number;
  readonly #space: FreeSpace;
  /** Bytes that each session has stored. */
  readonly #used = new Map<string, number>();

  constructor(
    config: Config,
    private readonly database: Database,
  ) {
    this.#folder = join(config.data, 'blobs');
    this.#limit = config.sessionBytes / 2;
    this.#space = new FreeSpace(config);
  }

  /** Resolves with the blob’s id when it is stored; `too_large` above 16 MiB. */
  async put(bytes: Uint8Array, type: string): Promise<string> {
    if (bytes.byteLength > maxBlobBytes) {
      throw new AppError(
        'too_large',
        'A picture or file may have at most 16 MiB; make it smaller.',
      );
    }
    const blob = createHash('sha256').update(bytes).digest('hex');
    const path = this.#path(blob);
    // Refreshes its age, because the caller is about to refer to it.
    if (touch(path)) return blob;
    try {
      await writeWhole(path, Readable.from([header(type), bytes]));
    } catch (error) {
      throw storageError(error);
    }
    return blob;
  }

  /** Like `put`, for a session: everyone who sees the session may read the blob. */
  async putFor(session: string, bytes: Uint8Array, type: string): Promise<string> {
    const blob = await this.put(bytes, type);
    await useBlobs(this.database.kysely, session, [blob]).catch(notStored);
    return blob;
  }

  /** Like `putFor`, for an agent: throws `limit_reached` beyond the budget of its session. */
  async putOf(session: string, bytes: Uint8Array, type: string): Promise<string> {
    await this.#space.require();
    const before = this.#used.get(session) ?? (await this.#storedBy(session));
    const used = Math.max(before, this.#used.get(session) ?? 0) + bytes.byteLength;
    if (used > this.#limit) {
      const megabytes = this.#limit / 2 ** 20;
      throw new AppError(
        'limit_reached',
        `The pictures and files of the session have reached their limit of ${megabytes} MiB. Raise BELAY_SESSION_MB and start the server again.`,
      );
    }
    // Counted before it is stored, so that many at once do not get past the limit.
    this.#used.set(session, used);
    return this.putFor(session, bytes, type);
  }

  /** A blob of this session; `not_found` for blobs of others and for missing ones alike. */
  async getOf(session: string, blob: string): Promise<StoredBlob> {
    if (!(await usesBlob(this.database.kysely, session, blob))) throw unknownBlob();
    return this.get(blob);
  }

  /** The session was deleted. */
  forget(session: string): void {
    this.#used.delete(session);
  }

  has(blob: string): boolean {
    return blobId.safeParse(blob).success && existsSync(this.#path(blob));
  }

  async get(blob: string): Promise<StoredBlob> {
    if (!blobId.safeParse(blob).success) throw unknownBlob();
    const stored = await readFile(this.#path(blob)).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? unknownBlob() : error;
    });
    const end = stored.indexOf(10);
    return { type: stored.toString('latin1', 0, end), bytes: stored.subarray(end + 1) };
  }

  /**
   * Deletes those of these blobs that are unreferenced and were not stored since `before` (milliseconds). A blob that
   * is stored at the same time is safe: the check and the deletion are synchronous.
   */
  async removeUnused(blobs: readonly string[], before: number): Promise<void> {
    const used = await usedBlobs(this.database.kysely, blobs);
    for (const blob of blobs) {
      const path = this.#path(blob);
      const found = used.has(blob) ? undefined : statSync(path, { throwIfNoEntry: false });
      if (found && found.mtimeMs < before) unlinkSync(path);
    }
  }

  /** Like `removeUnused`, for all stored blobs and for unfinished files of killed processes. */
  async removeAllUnused(before: number): Promise<void> {
    for (const part of await readdir(this.#folder).catch(() => [])) {
      await this.removeUnused(await readdir(join(this.#folder, part)), before);
    }
  }

  async #storedBy(session: string): Promise<number> {
    const blobs = await blobsOf(this.database.kysely, session);
    const sizes = await Promise.all(
      blobs.map((blob) =>
        stat(this.#path(blob)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  #path(blob: string): string {
    return join(this.#folder, blob.slice(0, 2), blob);
  }
}

/** The first line of the file is the blob’s media type; an invalid type is stored as plain bytes. */
function header(type: string): string {
  return `${/^[\w.+-]+\/[\w.+-]+$/.test(type) ? type.toLowerCase() : 'application/octet-stream'}\n`;
}

/** Whether the blob exists; resets its age. */
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
