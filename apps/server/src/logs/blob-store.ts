import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { AppError, blobId } from '@belay/protocol';
import { Config } from '../config.js';
import { blobsOf, useBlobs, usedBlobs, usesBlob } from '../storage/blob-uses.js';
import { Database, notStored, storageError } from '../storage/database.js';
import { FreeSpace } from '../storage/free-space.js';
import { KeyedMutex } from '../storage/keyed-mutex.js';
import { ObjectStore } from '../storage/object-store.js';

/** The maximum size of a blob; screenshots and attached pictures are far below it. */
export const maxBlobBytes = 16 * 1024 * 1024;

/** A blob that was stored longer ago is stored once more, so that its removal does not take it for unused. */
const refreshMs = 5 * 60_000;
const folder = 'blobs';
/** Blobs whose references are looked up together. */
const batch = 500;

export interface StoredBlob {
  type: string;
  bytes: Buffer;
}

/** Bytes beside the log, by the SHA-256 of their content: stored once, never changed. */
@Injectable()
export class BlobStore {
  readonly #limit: number;
  readonly #space: FreeSpace;
  /** Bytes that each session has stored. */
  readonly #used = new Map<string, number>();
  /** A blob is either stored or removed at a time. */
  readonly #mutexes = new KeyedMutex();

  constructor(
    config: Config,
    private readonly database: Database,
    private readonly objects: ObjectStore,
  ) {
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
    const blob = hashOf(bytes);
    return this.#mutexes.run(blob, async () => {
      const known = await this.objects.find(keyOf(blob));
      if (known && known.storedMs > Date.now() - refreshMs) return blob;
      try {
        await this.objects.put(keyOf(blob), Buffer.concat([header(type), bytes]));
      } catch (error) {
        throw storageError(error);
      }
      return blob;
    });
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

  /** The session was deleted, or another server may have stored blobs of it. */
  forget(session: string): void {
    this.#used.delete(session);
  }

  async has(blob: string): Promise<boolean> {
    return blobId.safeParse(blob).success && (await this.objects.find(keyOf(blob))) !== undefined;
  }

  /** Throws `not_found`, and `internal` for one whose content is no longer that of its id. */
  async get(blob: string): Promise<StoredBlob> {
    if (!blobId.safeParse(blob).success) throw unknownBlob();
    const found = await this.objects.open(keyOf(blob));
    if (!found) throw unknownBlob();
    const stored = await buffer(found.content);
    const end = stored.indexOf(10);
    const bytes = stored.subarray(end + 1);
    if (hashOf(bytes) !== blob)
      throw new AppError(
        'internal',
        `The stored picture or file ${blob} is damaged: restore it from a backup.`,
      );
    return { type: stored.toString('latin1', 0, end), bytes };
  }

  /** Deletes those of these blobs that are unreferenced and were not stored since `before` (milliseconds). */
  async removeUnused(blobs: readonly string[], before: number): Promise<void> {
    const used = await usedBlobs(this.database.kysely, blobs);
    for (const blob of blobs) {
      if (used.has(blob)) continue;
      await this.#mutexes.run(blob, async () => {
        const found = await this.objects.find(keyOf(blob));
        if (found && found.storedMs < before) await this.objects.remove(found.key);
      });
    }
  }

  /** Like `removeUnused`, for all stored blobs and for unfinished files of killed processes. */
  async removeAllUnused(before: number): Promise<void> {
    const old: string[] = [];
    for await (const { key, storedMs } of this.objects.list(folder)) {
      if (storedMs >= before) continue;
      old.push(key.slice(key.lastIndexOf('/') + 1));
      if (old.length === batch) await this.removeUnused(old.splice(0), before);
    }
    await this.removeUnused(old, before);
  }

  async #storedBy(session: string): Promise<number> {
    const blobs = await blobsOf(this.database.kysely, session);
    const found = await Promise.all(blobs.map((blob) => this.objects.find(keyOf(blob))));
    return found.reduce((sum, one) => sum + (one?.bytes ?? 0), 0);
  }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const keyOf = (blob: string): string => `${folder}/${blob.slice(0, 2)}/${blob}`;

/** The first line of the object is the blob’s media type; an invalid type is stored as plain bytes. */
function header(type: string): Buffer {
  return Buffer.from(
    `${/^[\w.+-]+\/[\w.+-]+$/.test(type) ? type.toLowerCase() : 'application/octet-stream'}\n`,
  );
}

const unknownBlob = (): AppError => new AppError('not_found', 'There is no such picture or file.');
