import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ImageFiles } from '../made-images.js';

/** Files of images, in memory. */
export class MemoryImageFiles implements ImageFiles {
  readonly #files = new Map<string, Buffer>();

  async put(key: string, content: Readable | Uint8Array): Promise<void> {
    const whole = content instanceof Readable ? await buffer(content) : Buffer.from(content);
    this.#files.set(key, whole);
  }

  async open(key: string): Promise<{ content: Readable } | undefined> {
    const found = this.#files.get(key);
    return found && { content: Readable.from([found]) };
  }

  async *list(folder: string): AsyncIterable<{ key: string }> {
    for (const key of this.#files.keys()) if (key.startsWith(`${folder}/`)) yield { key };
  }

  async remove(key: string): Promise<void> {
    this.#files.delete(key);
  }
}
