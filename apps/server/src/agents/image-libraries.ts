import { Injectable } from '@nestjs/common';
import { ContainerHost } from '@belay/containers';
import type { CLibrary } from './agent-entry.js';
import type { Architecture } from './agent-lock.js';

/** The loaders of the C libraries. An Alpine image may have the loader of glibc as well, for programs of others. */
const loaders: Record<Architecture, readonly (readonly [CLibrary, string])[]> = {
  x64: [
    ['musl', '/lib/ld-musl-x86_64.so.1'],
    ['glibc', '/lib64/ld-linux-x86-64.so.2'],
  ],
  arm64: [
    ['musl', '/lib/ld-musl-aarch64.so.1'],
    ['glibc', '/lib/ld-linux-aarch64.so.1'],
  ],
};

/** Finds the C library of images by their loaders, without running anything of them. */
@Injectable()
export class ImageLibraries {
  /** By an image's id, which another image never gets. */
  readonly #known = new Map<string, CLibrary>();

  constructor(private readonly host: ContainerHost) {}

  async of(image: string): Promise<CLibrary> {
    const { images } = this.host;
    const id = await images.id(image);
    const known = id === undefined ? undefined : this.#known.get(id);
    if (known) return known;
    const own = loaders[process.arch as Architecture] ?? [];
    const found = await images.firstPath(
      image,
      own.map(([, path]) => path),
    );
    const library = own.find(([, path]) => path === found)?.[0] ?? 'none';
    const fetched = id ?? (await images.id(image));
    if (fetched !== undefined) this.#known.set(fetched, library);
    return library;
  }
}
