import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

/**
 * Unpacks a skill’s files, read-only, where the sandbox’s programs can use them; returns its folder. Null on a bare
 * machine, where nothing confines them.
 */
export function skillPlacer({ state, bare }: { state: string; bare: boolean }) {
  return async (name: string, archive: Uint8Array): Promise<string | null> => {
    if (bare) return null;
    const folder = join(state, 'skills');
    await mkdir(folder, { recursive: true });
    // Loaded with the first skill, because most sessions read none.
    const { importWorkspace } = await import('./import-workspace.js');
    await importWorkspace(folder, Readable.from([Buffer.from(archive)]));
    return join(folder, name);
  };
}
