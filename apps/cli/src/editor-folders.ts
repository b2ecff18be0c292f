import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BelayClient } from '@belay/client';
import { z } from 'zod';
import { readSaved } from './saved-file.js';
import { applyPatch } from './workspace/apply-patch.js';
import type { OutwardLink } from './workspace/outward-links.js';

const saved = z.object({
  path: z.string(),
  /** The step of the session’s history that was last written to the folder; null if none was. */
  applied: z.string().nullable(),
});
type SavedFolder = z.output<typeof saved>;

/**
 * The editor’s folders of sessions, and how much of each session’s work is in them. They are saved, so that changes
 * which could not be written yet are written by a later `belay acp`.
 */
export class EditorFolders {
  readonly #client: BelayClient;
  /** The folder with the saved files, one for each session. */
  readonly #store: string;

  constructor(client: BelayClient, store: string) {
    this.#client = client;
    this.#store = store;
  }

  /** Undefined for a session that no editor on this machine has begun or opened. */
  of(session: string): SavedFolder | undefined {
    return readSaved(this.#file(session), saved);
  }

  /** A session whose sandbox has the folder’s files, and whose changes all belong there. */
  begin(session: string, path: string): void {
    this.#save(session, { path, applied: null });
  }

  /** Opens an earlier session. In a folder that is new to it, only its later changes are written. */
  async reopen(session: string, path: string): Promise<void> {
    if (this.of(session)?.path === path) return;
    this.#save(session, { path, applied: (await this.#newestStep(session)) ?? null });
  }

  /**
   * Writes the session’s new changes to its folder, completely or not at all. Returns the new links that lead out of
   * the folder.
   */
  async takeChanges(session: string): Promise<OutwardLink[]> {
    const folder = this.of(session);
    if (!folder) return [];
    const { path, applied } = folder;
    const commit = await this.#newestStep(session);
    if (commit === undefined || commit === applied) return [];
    const span = { format: 'patch' as const, commit, ...(applied !== null && { from: applied }) };
    const patch = await this.#client.sessions.export(session, span);
    const links = patch.length > 0 ? await applyPatch(path, patch) : [];
    this.#save(session, { path, applied: commit });
    return links;
  }

  async #newestStep(session: string): Promise<string | undefined> {
    const { sessions } = this.#client;
    await sessions.wake(session);
    const { steps } = await sessions.call(session, 'workspace.log', { limit: 1 });
    return steps[0]?.commit;
  }

  /** Replaces the file as a whole, because two editors may have the same session open. */
  #save(session: string, folder: SavedFolder): void {
    const file = this.#file(session);
    const whole = `${file}.${process.pid}`;
    mkdirSync(this.#store, { recursive: true, mode: 0o700 });
    writeFileSync(whole, JSON.stringify(folder), { mode: 0o600 });
    renameSync(whole, file);
  }

  #file(session: string): string {
    return join(this.#store, `${session.replaceAll(/[^\w-]/g, '_')}.json`);
  }
}
