import { Injectable } from '@nestjs/common';
import { DockerClient, idleContainer } from '@belay/containers';
import { Config } from '../config.js';
import { ownerLabels } from '../owner-labels.js';
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

  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
  ) {}

  async of(image: string): Promise<CLibrary> {
    const id = await this.docker.imageId(image);
    const known = id === undefined ? undefined : this.#known.get(id);
    if (known) return known;
    const container = await this.docker.create(
      idleContainer({
        name: `belay-agent-${this.config.instance}-image`,
        image,
        labels: ownerLabels(this.config),
      }),
    );
    try {
      const found = await this.#libraryIn(container);
      const pulled = id ?? (await this.docker.imageId(image));
      if (pulled !== undefined) this.#known.set(pulled, found);
      return found;
    } finally {
      await this.docker.remove(container);
    }
  }

  async #libraryIn(container: string): Promise<CLibrary> {
    for (const [library, path] of loaders[process.arch as Architecture] ?? [])
      if (await this.docker.hasPath(container, path)) return library;
    return 'none';
  }
}
