import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/** The files and folders below a folder that this process holds open. Needs /proc. */
export function openFilesBelow(folder: string): string[] {
  const below = join(realpathSync(folder), '/');
  return readdirSync('/proc/self/fd')
    .map((descriptor) => {
      try {
        return readlinkSync(join('/proc/self/fd', descriptor));
      } catch {
        return ''; // It was closed meanwhile.
      }
    })
    .filter((path) => path.startsWith(below));
}
