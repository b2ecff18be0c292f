import { delimiter, join } from 'node:path';
import { isExecutable } from '../permissions.js';

export const usualPath = '/usr/local/bin:/usr/bin:/bin';

/** The first executable file of this name in the folders of a `PATH`. */
export function findProgram(name: string, path = usualPath): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}
