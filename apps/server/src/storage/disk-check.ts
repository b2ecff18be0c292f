import { statfs } from 'node:fs/promises';
import type { Check } from '@belay/protocol';
import type { Config } from '../config.js';

/** Whether the data folder has space for what sessions write. */
export async function diskCheck({
  data: folder,
  keepFreeBytes,
}: Pick<Config, 'data' | 'keepFreeBytes'>): Promise<Check> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const ok = free >= keepFreeBytes;
  const size = free >= 1e9 ? `${(free / 1e9).toFixed(1)} GB` : `${Math.floor(free / 1e6)} MB`;
  return {
    name: 'Disk',
    ok,
    detail: `${size} are free for ${folder}.`,
    remedy: ok ? null : 'Free some space, or delete sessions: without space they stop and wait.',
  };
}
