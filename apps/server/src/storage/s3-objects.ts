import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { AppError } from '@belay/protocol';
import type { S3Config } from '../s3-config.js';
import {
  checkedKey,
  isKey,
  storageRefusal,
  type ObjectRange,
  type ObjectStore,
  type OpenObject,
  type StoredObject,
} from './object-store.js';
import type { BeforeLead } from './on-lead.js';
import type { S3Bucket } from './s3-bucket.js';
import { writeWhole, type WriteOptions } from './write-whole.js';

/** The SDK repeats a request that failed if its content is in memory, where larger ones would take too much of it. */
const maxRepeated = 4 * 2 ** 20;

/** A folder of this machine, and the ids of the other servers that are alive. */
interface Spool {
  folder: string;
  others(): Promise<ReadonlySet<string>>;
}

/** Objects in a bucket of S3, or of another server with its API, below a prefix. */
export class S3Objects implements ObjectStore, BeforeLead {
  readonly #prefix: string;

  private constructor(
    private readonly config: S3Config,
    private readonly bucket: S3Bucket,
    private readonly spool: Spool,
  ) {
    this.#prefix = config.prefix === '' ? '' : `${config.prefix}/`;
  }

  /**
   * Stores an object and deletes it again. Throws `unavailable` with a sentence when the bucket, its server or the key
   * does not allow that. `spool` is a folder of its own, where streams wait until their length is known.
   */
  static async open(config: S3Config, spool: Spool): Promise<S3Objects> {
    // In a file of its own: a server without it does not load the SDK.
    const { S3Bucket: Bucket } = await import('./s3-bucket.js');
    const objects = new S3Objects(config, new Bucket(config), spool);
    const probe = `start/${randomUUID()}`;
    await objects.put(probe, Buffer.from('The server can write here.\n'));
    for await (const _ of objects.list('start')) break;
    await objects.remove(probe);
    return objects;
  }

  /** Removes what a killed server left, unless others may write to the same folder, or this one does. */
  async beforeLead(hasWorked: boolean): Promise<void> {
    const { folder, others } = this.spool;
    if (!hasWorked && (await others()).size === 0)
      await rm(folder, { recursive: true, force: true });
  }

  async put(
    key: string,
    content: Readable | Uint8Array,
    options: WriteOptions = {},
  ): Promise<void> {
    const at = this.#at(key);
    const { signal } = options;
    if (!(content instanceof Readable) && !options.through)
      return this.#try(() => this.bucket.put(at, content, { bytes: content.byteLength, signal }));
    // One request stores it, completely or not at all. It begins with the length.
    const path = join(this.spool.folder, randomUUID());
    try {
      const stream = content instanceof Readable ? content : Readable.from([content]);
      await writeWhole(path, stream, options);
      const { size: bytes } = await stat(path);
      const body = bytes <= maxRepeated ? await readFile(path) : createReadStream(path);
      await this.#try(() => this.bucket.put(at, body, { bytes, signal }));
    } finally {
      await rm(path, { force: true });
    }
  }

  async find(key: string): Promise<StoredObject | undefined> {
    const at = this.#at(key);
    const found = await this.#try(() => this.bucket.head(at).catch(absent));
    return found && { key, ...found };
  }

  open(key: string, range?: ObjectRange): Promise<OpenObject | undefined> {
    const at = this.#at(key);
    return this.#try(() => this.bucket.get(at, range).catch(absent));
  }

  async *list(folder: string): AsyncIterable<StoredObject> {
    const prefix = `${this.#at(folder)}/`;
    try {
      for await (const found of this.bucket.list(prefix)) {
        const key = found.key.slice(this.#prefix.length);
        if (isKey(key)) yield { ...found, key };
      }
    } catch (error) {
      throw this.#failure(error);
    }
  }

  remove(key: string): Promise<void> {
    const at = this.#at(key);
    return this.#try(() => this.bucket.remove(at));
  }

  async removeFolder(folder: string): Promise<void> {
    const keys: string[] = [];
    for await (const { key } of this.list(folder)) keys.push(this.#at(key));
    await this.#try(() => this.bucket.removeAll(keys));
  }

  onApplicationShutdown(): void {
    this.bucket.close();
  }

  #at(key: string): string {
    return this.#prefix + checkedKey(key);
  }

  async #try<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): unknown {
    const { name, code, message, status } = detailsOf(error);
    if (error instanceof AppError || name === 'AbortError') return error;
    const { bucket } = this.config;
    if (name === 'NoSuchBucket')
      return storageRefusal(`There is no bucket ${bucket}: create it, or change BELAY_STORAGE.`);
    if (status === 401 || status === 403)
      return storageRefusal(
        `The bucket ${bucket} does not admit this server (${name}): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a key that may read, write, list and delete there.`,
      );
    if (name === 'CredentialsProviderError')
      return storageRefusal(
        `There is no key for the bucket ${bucket}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
      );
    if (message === 'Region is missing')
      return storageRefusal(`The bucket ${bucket} needs its region: set AWS_REGION.`);
    return new AppError(
      'unavailable',
      `The bucket ${bucket} cannot be used (${code ?? name}: ${message}). Check AWS_ENDPOINT_URL_S3, its server and the key.`,
    );
  }
}

interface SdkError {
  name?: string;
  code?: string;
  message?: string;
  $metadata?: { httpStatusCode?: number };
}

function detailsOf(error: unknown) {
  const { name = 'Error', code, message = '', $metadata } = (error ?? {}) as SdkError;
  return { name, code, message, status: $metadata?.httpStatusCode };
}

/** A missing object does not count as an error. A response to HEAD has no body that could name another reason. */
function absent(error: unknown): undefined {
  const { name } = detailsOf(error);
  if (name !== 'NoSuchKey' && name !== 'NotFound') throw error;
}
