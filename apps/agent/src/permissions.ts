import { constants, statSync, type Stats } from 'node:fs';

export const { R_OK, W_OK, X_OK } = constants;

/**
 * Whether the file’s mode allows this to the agent’s effective user. Replaces access(2), which checks the real user,
 * who may differ in a sandbox (`separateFromPrograms`).
 */
export function allows({ mode, uid, gid }: Stats, wanted: number): boolean {
  const user = process.geteuid?.();
  if (user === 0) return wanted !== X_OK || (mode & 0o111) !== 0;
  const groups = [process.getegid?.(), ...(process.getgroups?.() ?? [])];
  const shift = uid === user ? 6 : groups.includes(gid) ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}

/** Whether a path exists. `existsSync` would check with the real user. */
export function isThere(path: string): boolean {
  return statOf(path) !== undefined;
}

/** Whether a path leads to an executable file. */
export function isExecutable(path: string): boolean {
  const stats = statOf(path);
  return stats !== undefined && stats.isFile() && allows(stats, X_OK);
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
