import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { AppError } from '@belay/protocol';
import { z } from 'zod';

/** Whole files by key, such as `images/abc.json`. */
export interface ImageFiles {
  /** Rejects with the error of the content, and then has stored nothing. */
  put(key: string, content: Readable | Uint8Array): Promise<void>;
  open(key: string): Promise<{ content: Readable } | undefined>;
  /** Also what remained of puts that did not finish. */
  list(folder: string): AsyncIterable<{ key: string }>;
  remove(key: string): Promise<void>;
}

const madeImage = z.object({
  name: z.string(),
  /** The image that it was made from, by its digest where that is known. */
  base: z.string(),
  /** What was written to it, in MiB at most. */
  mb: z.number(),
  entrypoint: z.array(z.string()),
  /** As in `user:group`. */
  user: z.string(),
});
export type MadeImage = z.output<typeof madeImage>;

/** No image of a registry has this character in its name. */
const prefix = 'made#';
const folder = 'images';

/**
 * Images that consist of another image and of what a container has written over it: a cluster can make none. Both are
 * kept as files, under the id of that container.
 */
export class MadeImages {
  constructor(private readonly files: ImageFiles) {}

  /** Keeps what a container has written: a tar that is compressed with zstd. */
  keepLayer(container: string, layer: Readable): Promise<void> {
    return this.files.put(keysOf(container).layer, layer);
  }

  /** Returns the image’s id. Throws `unavailable` when nothing was kept of this container. */
  async make(container: string, image: MadeImage): Promise<string> {
    const { layer, description } = keysOf(container);
    const kept = await this.files.open(layer);
    if (!kept)
      throw new AppError('unavailable', 'The files of the container were not kept: try it again.');
    kept.content.destroy();
    await this.files.put(description, Buffer.from(JSON.stringify(image)));
    return prefix + container;
  }

  /** Undefined for an image that was not made here. Throws `not_found` for one that is not there any more. */
  async find(image: string): Promise<MadeImage | undefined> {
    if (!image.startsWith(prefix)) return undefined;
    const found = await this.#description(image.slice(prefix.length));
    if (!found) throw goneImage();
    return found;
  }

  /** What is unpacked over its base. Throws `not_found`. */
  async layer(image: string): Promise<Readable> {
    const found = await this.files.open(keysOf(image.slice(prefix.length)).layer);
    if (!found) throw goneImage();
    return found.content;
  }

  /** The id of the image with this name. */
  async named(name: string): Promise<string | undefined> {
    for (const image of await this.all())
      if ((await this.#description(image.slice(prefix.length)))?.name === name) return image;
    return undefined;
  }

  /** The ids of all, also of those that were not finished. */
  async all(): Promise<string[]> {
    const containers = new Set<string>();
    for await (const { key } of this.files.list(folder))
      containers.add(key.slice(folder.length + 1).split('.')[0] ?? '');
    return [...containers].map((container) => prefix + container);
  }

  /** Does nothing for one that was not made here. */
  async remove(image: string): Promise<void> {
    const own = `${folder}/${image.slice(prefix.length)}.`;
    if (!image.startsWith(prefix)) return;
    const keys: string[] = [];
    for await (const { key } of this.files.list(folder)) if (key.startsWith(own)) keys.push(key);
    // The description first: without a layer, it would be of no image.
    for (const key of keys.toSorted()) await this.files.remove(key);
  }

  async #description(container: string): Promise<MadeImage | undefined> {
    const found = await this.files.open(keysOf(container).description);
    return found && madeImage.parse(await json(found.content));
  }
}

const keysOf = (container: string) => ({
  description: `${folder}/${container}.json`,
  layer: `${folder}/${container}.layer`,
});

const goneImage = (): AppError =>
  new AppError('not_found', 'The image is not there any more: install what it is for again.');
