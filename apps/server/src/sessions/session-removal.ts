import { Injectable } from '@nestjs/common';
import { isEnded, newEvent } from '@belay/protocol';
import { BlobStore } from '../logs/blob-store.js';
import { EventLog } from '../logs/event-log.js';
import { TerminalLog } from '../logs/terminal-log.js';
import { Exports } from './exports.js';
import { StartQueue } from './start-queue.js';
import { WorkspaceStore } from './workspace.store.js';

/** A blob younger than this may be about to be used by another session. */
const freshMs = 10 * 60_000;

export type RemovedListener = (session: string) => void;

/** Deletes sessions with all of their data. */
@Injectable()
export class SessionRemoval {
  readonly #listeners = new Set<RemovedListener>();

  constructor(
    private readonly log: EventLog,
    private readonly terminals: TerminalLog,
    private readonly blobs: BlobStore,
    private readonly workspaces: WorkspaceStore,
    private readonly queue: StartQueue,
    private readonly exports: Exports,
  ) {}

  /** Deletes the session with its container, its files and its logs. */
  async remove(id: string): Promise<void> {
    const stop = newEvent('user', 'stop', { args: {}, message: 'Stopped to be deleted.' });
    const isDamaged = (await this.log.damage(id)) !== undefined;
    if (!isDamaged) await this.log.append(id, ({ state }) => (isEnded(state) ? [] : [stop]));
    const workspace = isDamaged ? null : (await this.log.settings(id)).workspace;
    let blobs: readonly string[] = [];
    await this.queue.discard(id, async () => {
      blobs = await this.log.remove(id);
    });
    await this.blobs.removeUnused(blobs, Date.now() - freshMs);
    if (workspace && !(await this.#isUsed(workspace))) await this.workspaces.remove(workspace);
    this.blobs.forget(id);
    await this.terminals.remove(id);
    await this.exports.remove(id);
    await this.workspaces.removeSeed(id);
    for (const listener of this.#listeners) listener(id);
  }

  onRemoved(listener: RemovedListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #isUsed(workspace: string): Promise<boolean> {
    // A session that cannot be read may need the blob.
    return (await this.log.records()).some(
      ({ settings, damage }) => damage !== undefined || settings.workspace === workspace,
    );
  }
}
