import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { sees, type Caller } from '../access/caller.js';
import { LatestUploads } from '../access/latest-uploads.js';
import { sessionsOfBlob } from '../storage/blob-uses.js';
import { Database } from '../storage/database.js';
import { BlobStore } from './blob-store.js';

/**
 * Pictures that users attach. Knowing a blob’s id is not enough to attach it, because viewers of the session can then
 * read the picture.
 */
@Injectable()
export class AttachedPictures {
  constructor(
    private readonly blobs: BlobStore,
    private readonly database: Database,
    private readonly uploads: LatestUploads,
  ) {}

  async upload(caller: Caller, bytes: Uint8Array, type: string): Promise<string> {
    const blob = await this.blobs.put(bytes, type);
    await this.uploads.add(caller, blob);
    return blob;
  }

  /** Throws `not_found` for one that does not exist, or that the caller has neither uploaded nor sees in a session. */
  async assertMayAttach(caller: Caller, images: readonly string[]): Promise<void> {
    for (const blob of images) {
      const isKnown = await this.uploads.has(caller, blob);
      if (await (isKnown ? this.blobs.has(blob) : this.#isInSession(caller, blob))) continue;
      throw unknownPicture();
    }
  }

  async #isInSession(caller: Caller, blob: string): Promise<boolean> {
    const sessions = await sessionsOfBlob(this.database.kysely, blob);
    return sessions.some((session) => sees(caller, session));
  }
}

const unknownPicture = (): AppError =>
  new AppError('not_found', 'There is no such picture. Upload it first: POST /api/blobs');
