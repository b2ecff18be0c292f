import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { OnLead } from '../storage/on-lead.js';
import { BlobStore } from '../logs/blob-store.js';
import { EventLog } from '../logs/event-log.js';
import { StepCopies } from '../logs/step-copies.js';
import { WorkspaceStore } from './workspace.store.js';

/** How long an upload or a picture may stay unused before it is deleted. */
const unusedMs = 24 * 3600_000;
const lookMs = 3600_000;

/** Deletes uploaded workspaces, blobs and copies without a session, at the start and every hour. */
@Injectable()
export class Leftovers implements OnLead, OnModuleDestroy {
  readonly #logger = new Logger(Leftovers.name);
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: EventLog,
    private readonly workspaces: WorkspaceStore,
    private readonly blobs: BlobStore,
    private readonly copies: StepCopies,
  ) {}

  onLead(): void {
    const look = (): void => void this.#clear().catch((error: unknown) => this.#logger.warn(error));
    this.#timer = setInterval(look, lookMs).unref();
    look();
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
  }

  async #clear(): Promise<void> {
    const before = Date.now() - unusedMs;
    await this.blobs.removeAllUnused(before);
    const sessions = async () => (await this.log.summaries()).map(({ id }) => id);
    await this.copies.removeUnused(sessions);
    await this.workspaces.removeUnused(() => this.#used(), before);
  }

  /** The archives that sessions need; undefined for all. */
  async #used(): Promise<ReadonlySet<string> | undefined> {
    const used = new Set<string>();
    for (const { id, settings, damage } of await this.log.records()) {
      // A session that cannot be read may need any of them, so nothing is deleted.
      if (damage !== undefined) return undefined;
      used.add(`seed-${id}`);
      if (settings.workspace) used.add(settings.workspace);
    }
    return used;
  }
}
