import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, normalize, relative } from 'node:path';
import { AppError } from '@belay/protocol';

/** A folder of this machine without links. Throws one sentence when it does not exist. */
export async function realFolder(folder: string): Promise<string> {
  const real = await realpath(normalize(folder)).catch(() => undefined);
  const isFolder = real !== undefined && (await stat(real).catch(() => undefined))?.isDirectory();
  if (!isFolder) throw new AppError('invalid_input', `There is no folder ${folder}.`);
  return real;
}

/** The path without links, or the path itself if it does not exist. */
export const sameEnds = (path: string): Promise<string> => realpath(path).catch(() => path);

export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith('../') || isAbsolute(way));
}
