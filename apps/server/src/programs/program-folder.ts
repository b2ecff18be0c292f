import { normalize } from 'node:path';
import { AppError } from '@belay/protocol';
import { isWithin, realFolder, sameEnds } from '@belay/host';

/** Folders of the system and its services. */
const system = /^\/(boot|dev|proc|run|sys)(\/|$)/;

/**
 * A folder of this machine that a program may read, without links. Throws one sentence when it does not exist, belongs
 * to the system, or contains or lies in one of the `closed` paths: even if it is mounted read-only, a socket in it
 * could be used.
 */
export async function programFolder(
  folder: string,
  closed: readonly string[],
): Promise<{ path: string; real: string }> {
  const path = normalize(folder);
  const real = await realFolder(folder);
  const ends = await Promise.all(closed.map(sameEnds));
  const isClosed = ends.some((one) => isWithin(real, one) || isWithin(one, real));
  if (isClosed || system.test(real) || system.test(path)) {
    throw new AppError(
      'invalid_input',
      `The folder ${folder} contains files of the system or of Belay. Name a folder of the program.`,
    );
  }
  return { path, real };
}
