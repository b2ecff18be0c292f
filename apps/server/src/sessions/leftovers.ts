import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { BlobStore } from '../logs/blob-store.js';
import { EventLog } from '../logs/event-log.js';
import { WorkspaceStore } from './workspace.store.js';

/** How long an upload, or a picture, may wait for the session that it was made for. */
const unusedMs = 24 * 3600_000;
const lookMs = 3600_000;

/** Deletes uploaded workspaces and blobs that no session has, at the start and every hour. */
@Injectable()
export class Leftovers implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(Leftovers.name);
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: EventLog,
    private readonly workspaces: WorkspaceStore,
    private readonly blobs: BlobStore,
  ) {}

  onApplicationBootstrap(): void {
    const look = (): void => void this.clear().catch((error: unknown) => this.logger.warn(error));
    this.timer = setInterval(look, lookMs).unref();
    look();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private async clear(): Promise<void> {
    const used = new Set<string>();
    for (const { id } of await this.log.summaries()) {
      const { workspace } = await this.log.settings(id);
      if (workspace) used.add(workspace);
    }
    const before = Date.now() - unusedMs;
    await this.workspaces.removeUnused(used, before);
    await this.blobs.removeAllUnused(before);
  }
}
