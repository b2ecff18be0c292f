import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { S3Config } from '../s3-config.js';
import type { ObjectRange, OpenObject, StoredObject } from './object-store.js';

const connectTimeoutMs = 5_000;
/** How long a connection may be silent. */
const silenceTimeoutMs = 30_000;
const ignore = (): void => {};
/** The SDK would print warnings of errors that it also throws. */
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };
/** Most keys that one request deletes. */
const mostDeleted = 1_000;

/** The requests to a bucket of S3, or of another server with its API. They throw the errors of the SDK. */
export class S3Bucket {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor({ bucket, endpoint, region, credentials }: S3Config) {
    this.#bucket = bucket;
    this.#client = new S3Client({
      ...(endpoint !== undefined && { endpoint }),
      ...(region !== undefined && { region }),
      // Otherwise the SDK looks for them: in a profile, a web identity, or at the cloud’s own service.
      ...(credentials && { credentials }),
      // Servers of other vendors have no host name for each bucket.
      forcePathStyle: true,
      logger: silent,
      requestHandler: { connectionTimeout: connectTimeoutMs, socketTimeout: silenceTimeoutMs },
    });
  }

  async put(
    key: string,
    content: Readable | Uint8Array,
    { bytes, signal }: { bytes: number; signal: AbortSignal | undefined },
  ): Promise<void> {
    const command = new PutObjectCommand({
      Bucket: this.#bucket,
      Key: key,
      Body: content,
      ContentLength: bytes,
    });
    await this.#client.send(command, { ...(signal && { abortSignal: signal }) });
  }

  async head(key: string): Promise<Omit<StoredObject, 'key'>> {
    const found = await this.#client.send(new HeadObjectCommand(this.#place(key)));
    return { bytes: found.ContentLength ?? 0, storedMs: found.LastModified?.getTime() ?? 0 };
  }

  async get(key: string, range?: ObjectRange): Promise<OpenObject> {
    const part = range && { Range: `bytes=${range.from}-${range.to - 1}` };
    const found = await this.#client.send(new GetObjectCommand({ ...this.#place(key), ...part }));
    return { bytes: found.ContentLength ?? 0, content: found.Body as Readable };
  }

  async *list(prefix: string): AsyncIterable<StoredObject> {
    const pages = paginateListObjectsV2(
      { client: this.#client },
      { Bucket: this.#bucket, Prefix: prefix },
    );
    for await (const { Contents: found = [] } of pages)
      for (const { Key: key, Size: bytes = 0, LastModified: stored } of found)
        if (key !== undefined) yield { key, bytes, storedMs: stored?.getTime() ?? 0 };
  }

  async remove(key: string): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#place(key)));
  }

  /** Throws the first failure, after which some may be deleted. */
  async removeAll(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += mostDeleted) {
      const Objects = keys.slice(at, at + mostDeleted).map((Key) => ({ Key }));
      const { Errors: errors } = await this.#client.send(
        new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects, Quiet: true } }),
      );
      const [error] = errors ?? [];
      if (error) throw Object.assign(new Error(error.Message), { name: error.Code });
    }
  }

  close(): void {
    this.#client.destroy();
  }

  #place(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: key };
  }
}
