import { createReadStream } from 'node:fs';
import { createZstdDecompress } from 'node:zlib';
import { z } from 'zod';
import { mountPoints } from './mount-points.js';
import { unpackLayer } from './unpack-layer.js';

export const unpacking = z.object({
  /** Files, in the order in which they are unpacked over the image; each is a tar, compressed with zstd. */
  layers: z.array(z.string()),
  /** Of each, unpacked. */
  maxMb: z.number(),
});
export type Unpacking = z.output<typeof unpacking>;

/** Unpacks layers over the image of this container. */
export async function unpackLayers({ layers, maxMb }: Unpacking): Promise<void> {
  const files = { root: '/', mounted: mountPoints(), maxBytes: maxMb * 2 ** 20 };
  for (const layer of layers) {
    const stored = createReadStream(layer);
    const tar = createZstdDecompress();
    stored.on('error', (error) => tar.destroy(error));
    await unpackLayer(stored.pipe(tar), files);
  }
}
