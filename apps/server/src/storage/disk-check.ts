import { statfs } from 'node:fs/promises';
import { bytesText, type Check } from '@belay/protocol';
import type { Config } from '../config.js';

/** Checks the space in the data folder for the data of sessions. */
export async function diskCheck({
  data: folder,
  keepFreeBytes,
}: Pick<Config, 'data' | 'keepFreeBytes'>): Promise<Check> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const ok = free >= keepFreeBytes;
  return {
    name: 'Disk',
    ok,
    detail: `${bytesText(free)} are free for ${folder}.`,
    remedy: ok ? null : 'Free some space, or delete sessions: without space they stop and wait.',
  };
}
