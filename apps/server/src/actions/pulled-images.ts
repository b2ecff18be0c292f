import { Injectable, Logger } from '@nestjs/common';
import { errorFrom } from '@belay/protocol';
import { z } from 'zod';
import { Config } from '../config.js';
import { EventLog } from '../logs/event-log.js';
import { McpServers } from '../mcp/mcp-servers.js';
import type { Document } from '../storage/document.js';
import { Documents } from '../storage/documents.js';
import { ActionImages, pulledImage, type PulledImage } from './containers/action-images.js';
import { ActionStore } from './action.store.js';

/**
 * Images that an install or a call of an action pulled, recorded until they are removed; images that
 * existed before are never listed.
 */
@Injectable()
export class PulledImages {
  readonly #logger = new Logger(PulledImages.name);
  readonly #document: Document<z.ZodArray<typeof pulledImage>>;

  constructor(
    private readonly config: Config,
    private readonly store: ActionStore,
    private readonly images: ActionImages,
    private readonly servers: McpServers,
    private readonly log: EventLog,
    documents: Documents,
  ) {
    this.#document = documents.open('pulled-images', z.array(pulledImage), []);
  }

  add(image: PulledImage): Promise<void> {
    return this.#document.change((all) => [
      ...all.filter(({ name }) => name !== image.name),
      image,
    ]);
  }

  /**
   * Removes listed images that nothing needs any more. No install may be running, because its images are not known
   * here. Never rejects: failed removals are repeated the next time.
   */
  async removeUnneeded(): Promise<void> {
    if (this.#document.value.length === 0) return;
    try {
      const needed = new Set([...this.#ofActions(), ...(await this.#ofOthers())]);
      const unneeded = this.#document.value.filter(({ name }) => !needed.has(name));
      if (unneeded.length === 0) return;
      const gone = await this.images.removePulled(unneeded, [...needed]);
      const names = new Set(gone.map(({ name }) => name));
      await this.#document.change((all) => all.filter(({ name }) => !names.has(name)));
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
