import { stat } from 'node:fs/promises';
import type { NewMount } from '@belay/protocol';

/** The user of programs in sandboxes. */
const sandboxUser = 1000;

/**
 * A sentence for each folder of this machine that a sandbox may change, but whose permissions do not let its user.
 * Folders that only another machine has are left to its server.
 */
export async function unwritableMounts(mounts: readonly NewMount[]): Promise<string[]> {
  const sentences = mounts.map(async ({ folder, readOnly }) => {
    const found = readOnly ? undefined : await stat(folder).catch(() => undefined);
    if (!found || mayWrite(found)) return [];
    return [
      `${folder} cannot be changed by the sandbox’s user ${sandboxUser}: give that user write access, or share it read-only with :ro.`,
    ];
  });
  return (await Promise.all(sentences)).flat();
}

function mayWrite({ uid, gid, mode }: { uid: number; gid: number; mode: number }): boolean {
  if (uid === sandboxUser) return (mode & 0o200) !== 0;
  return (mode & (gid === sandboxUser ? 0o020 : 0o002)) !== 0;
}
