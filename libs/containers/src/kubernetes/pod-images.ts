import type { Readable } from 'node:stream';
import { createZstdCompress } from 'node:zlib';
import type { ProgramSpec } from '../container-host.js';
import type { MadeImages } from './made-images.js';

/** What is unpacked over the image of a container before anything of it runs. */
export interface Layers {
  /** Their places in `PodImages.layers`, in order. */
  places: readonly number[];
  /** Their unpacked size, in MiB at most. */
  mb: number;
  /** Of the image as it is with them, for a service. */
  entrypoint: readonly string[];
  user: string;
}

/** An image as a container of a pod has it. */
export interface PodImage {
  /** An image that nodes pull. */
  base: string;
  layers: Layers | null;
}

/** The images of a pod of programs. */
export interface PodImages {
  first: PodImage;
  /** In their order. */
  services: readonly PodImage[];
  /** Each is a tar, compressed with zstd. */
  layers: readonly (() => Promise<Readable>)[];
}

/** Throws `not_found` for a made image that is not there any more. */
export async function podImagesOf(
  { image, services, archive }: Pick<ProgramSpec, 'image' | 'services' | 'archive'>,
  made: MadeImages | null,
): Promise<PodImages> {
  const layers: (() => Promise<Readable>)[] = [];
  const known = new Map<string, PodImage>();
  for (const one of new Set([image, ...services.map((service) => service.image)])) {
    const found = await made?.find(one);
    if (!made || !found) continue;
    const { base, mb, entrypoint, user } = found;
    const places = [layers.push(() => made.layer(one)) - 1];
    known.set(one, { base, layers: { places, mb, entrypoint, user } });
  }
  const imageOf = (one: string): PodImage => known.get(one) ?? { base: one, layers: null };
  const first = imageOf(image);
  if (!archive)
    return { first, services: services.map((service) => imageOf(service.image)), layers };
  const place = layers.push(async () => compressed(archive)) - 1;
  const { places = [], mb = 0, entrypoint = [], user = '' } = first.layers ?? {};
  const mbOfArchive = Math.ceil(archive.length / 2 ** 20);
  return {
    first: {
      base: first.base,
      layers: { places: [...places, place], mb: mb + mbOfArchive, entrypoint, user },
    },
    services: services.map((service) => imageOf(service.image)),
    layers,
  };
}

/** Images as they are. */
export const plainImages = ({
  image,
  services,
}: Pick<ProgramSpec, 'image' | 'services'>): PodImages => ({
  first: { base: image, layers: null },
  services: services.map((service) => ({ base: service.image, layers: null })),
  layers: [],
});

/** The MiB that all layers of a pod have at most, each once. */
export function layersMb({ first, services }: PodImages): number {
  const sizes = new Map(
    [first, ...services].flatMap(({ layers }) =>
      layers ? [[layers.places.join(), layers.mb]] : [],
    ) as [string, number][],
  );
  return [...sizes.values()].reduce((sum, mb) => sum + mb, 0);
}

function compressed(archive: Buffer): Readable {
  const stream = createZstdCompress();
  stream.end(archive);
  return stream;
}
