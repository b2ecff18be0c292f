import { join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { errorFrom } from '@belay/protocol';
import { z } from 'zod';
import { Config } from '../config.js';
import { EventLog } from '../logs/event-log.js';
import { McpServers } from '../mcp/mcp-servers.js';
import { PrivateFile } from '../storage/private-file.js';
import { ActionImages, pulledImage, type PulledImage } from './containers/action-images.js';
import { ActionStore } from './action.store.js';

/**
 * Images that an install or a call of an action pulled. A file records them until they are removed; images that
 * existed before are never listed.
 */
@Injectable()
export class PulledImages {
  readonly #logger = new Logger(PulledImages.name);
  readonly #file: PrivateFile<z.ZodArray<typeof pulledImage>>;

  constructor(
    private readonly config: Config,
    private readonly store: ActionStore,
    private readonly images: ActionImages,
    private readonly servers: McpServers,
    private readonly log: EventLog,
  ) {
    const path = join(config.data, 'pulled-images.json');
    this.#file = new PrivateFile(path, z.array(pulledImage), []);
  }

  add(image: PulledImage): Promise<void> {
    return this.#file.change((all) => [...all.filter(({ name }) => name !== image.name), image]);
  }

  /**
   * Removes listed images that nothing needs any more. No install may be running, because its images are not known
   * here. Never rejects: failed removals are repeated the next time.
   */
  async removeUnneeded(): Promise<void> {
    if (this.#file.value.length === 0) return;
    try {
      const needed = new Set([...this.#ofActions(), ...(await this.#ofOthers())]);
      const unneeded = this.#file.value.filter(({ name }) => !needed.has(name));
      if (unneeded.length === 0) return;
      const gone = await this.images.removePulled(unneeded, [...needed]);
      await this.#file.change((all) => all.filter((image) => !gone.includes(image)));
    } catch (error) {
      this.#logger.warn(
        `Images that actions pulled could not be removed: ${errorFrom(error).message}`,
      );
    }
  }

  /** Images of the versions that are installed now; sessions that began with an earlier version have its own image. */
  #ofActions(): string[] {
    return this.store.all.flatMap(({ current: { manifest } }) => [
      ...(manifest.base_image === undefined ? [] : [manifest.base_image]),
      ...Object.values(manifest.services).flatMap(({ image }) => image ?? []),
    ]);
  }

  /** Images of sandboxes, including sessions that may be started again, and of MCP servers. */
  async #ofOthers(): Promise<string[]> {
    const sessions = await this.log.summaries();
    const programs = this.servers.list().map(({ transport }) => transport);
    return [
      this.config.image,
      this.config.sidecarImage,
      ...sessions.flatMap(({ image }) => image ?? []),
      ...programs.flatMap((program) => (program.type === 'stdio' ? (program.image ?? []) : [])),
    ];
  }
}
