import { delimiter, dirname, join } from 'node:path';
import { isExecutable } from './permissions.js';

/** The first executable file of this name in the folders of a `PATH`. */
export function findProgram(
  name: string,
  path = '/usr/local/bin:/usr/bin:/bin',
): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

/** The runtime’s program, beside its Node, otherwise the system’s. */
export const ownProgram = (name: string): string | undefined =>
  findProgram(name, [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter));
