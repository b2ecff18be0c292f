import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  checkedKey,
  isKey,
  type ObjectRange,
  type ObjectStore,
  type OpenObject,
  type StoredObject,
} from './object-store.js';
import { writeWhole, type WriteOptions } from './write-whole.js';

/** Objects as files of a folder, which have their key as path. */
export class FolderObjects implements ObjectStore {
  constructor(private readonly folder: string) {}

  put(key: string, content: Readable | Uint8Array, options?: WriteOptions): Promise<void> {
    const stream = content instanceof Readable ? content : Readable.from([content]);
    return writeWhole(this.#path(key), stream, options);
  }

  async find(key: string): Promise<StoredObject | undefined> {
    const found = await stat(this.#path(key)).catch(absent);
    return found?.isFile() ? { key, bytes: found.size, storedMs: found.mtimeMs } : undefined;
  }

  async open(key: string, range?: ObjectRange): Promise<OpenObject | undefined> {
    const file = await open(this.#path(key)).catch(absent);
    if (!file) return undefined;
    const { size } = await file.stat();
    const { from, to } = { from: range?.from ?? 0, to: Math.min(range?.to ?? size, size) };
    const part = range && { start: from, end: to - 1 };
    const content = file.createReadStream({ highWaterMark: 1 << 18, ...part });
    return { bytes: to - from, content };
  }

  async *list(folder: string): AsyncIterable<StoredObject> {
    const entries = await readdir(this.#path(folder), { withFileTypes: true }).catch(absent);
    for (const entry of entries ?? []) {
      const key = `${folder}/${entry.name}`;
      if (!isKey(key)) continue;
      if (entry.isDirectory()) yield* this.list(key);
      const found = entry.isFile() ? await this.find(key) : undefined;
      if (found) yield found;
    }
  }

  async remove(key: string): Promise<void> {
    await rm(this.#path(key), { force: true });
  }

  async removeFolder(folder: string): Promise<void> {
    await rm(this.#path(folder), { recursive: true, force: true });
  }

  #path(key: string): string {
    return join(this.folder, checkedKey(key));
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}
