import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '../../config.js';
import type { S3Config } from '../../s3-config.js';
import { S3Objects } from '../s3-objects.js';

/** A part of the bucket of a real server, which is named by the variables of the environment; for tests in the bucket. */
export class TestBucket {
  readonly folder = mkdtempSync(join(tmpdir(), 'belay-s3-'));
  readonly #base: S3Config;
  readonly #storage: S3Config;
  readonly #name = `test-${randomUUID()}`;
  readonly #opened: S3Objects[] = [];
  #number = 0;

  constructor() {
    const base = new Config().storage;
    if (!base) throw new Error('BELAY_STORAGE is not set: npm run test:s3 says what is needed.');
    this.#base = base;
    this.#storage = { ...base, prefix: [base.prefix, this.#name].filter(Boolean).join('/') };
  }

  /** The settings of an empty part. */
  fresh(): S3Config {
    return { ...this.#storage, prefix: `${this.#storage.prefix}/${(this.#number += 1)}` };
  }

  async open(config = this.fresh()): Promise<S3Objects> {
    const objects = await S3Objects.open(config, {
      folder: join(this.folder, 'spool'),
      others: () => Promise.resolve(new Set<string>()),
    });
    this.#opened.push(objects);
    return objects;
  }

  async close(): Promise<void> {
    await (await this.open(this.#base)).removeFolder(this.#name);
    for (const one of this.#opened) one.onApplicationShutdown();
    rmSync(this.folder, { recursive: true });
  }
}
