import { statfs } from 'node:fs/promises';
import type { Check } from '@belay/protocol';

/** Below this sessions soon cannot be written down any more. */
const leastFree = 200_000_000;

/** Whether the data folder has room for what sessions write. */
export async function diskCheck(folder: string): Promise<Check> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const ok = free >= leastFree;
  const size = free >= 1e9 ? `${(free / 1e9).toFixed(1)} GB` : `${Math.floor(free / 1e6)} MB`;
  return {
    name: 'Disk',
    ok,
    detail: `${size} are free for ${folder}.`,
    remedy: ok ? null : 'Free some space, or delete sessions: without room they stop and wait.',
  };
}
