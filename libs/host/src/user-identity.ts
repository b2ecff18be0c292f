import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { gitIdentity, type GitIdentity } from '@belay/protocol';
import { reach } from './reach.js';
import type { UserEnvironment } from './user-environment.js';
import { findGit, git } from './git.js';
import { userSetting } from './user-setting.js';

/** A repository with more settings is not asked. */
const maxBytes = 100_000;

/**
 * Who commits in a folder: as its repository says, else as the user’s own settings of git do. Nothing else of these
 * settings is read, and those of the repository as data alone. Null when no one is named, or not in a name that fits.
 */
export async function userIdentity(
  folder: string,
  places?: Pick<UserEnvironment, 'home' | 'settings'>,
): Promise<GitIdentity | null> {
  const binary = findGit(folder);
  if (!binary) return null;
  const input = await ownSettings(folder).catch(() => undefined);
  const read = async (key: string): Promise<string> => {
    const args = ['config', '--file', '-', '--no-includes', '--null', '--get', key];
    const options = { binary, folder: '/', environment: {}, timeoutMs: 5_000, maxBytes: 10_000 };
    const own = input && (await git(args, { ...options, input }));
    if (own?.code === 0) return own.output.toString().split('\0')[0] ?? '';
    return (await userSetting(binary, ['--get', key], places)) ?? '';
  };
  try {
    const found = { name: await read('user.name'), email: await read('user.email') };
    return gitIdentity.safeParse(found).data ?? null;
  } catch {
    return null; // The default is used: a session needs no identity of its user.
  }
}

/** The settings of a folder’s repository; undefined where there is none, or they are not a file of its own. */
const ownSettings = (folder: string): Promise<Buffer | undefined> =>
  reach(folder, '.git/config', async ({ at }) => {
    const file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile() || stats.size > maxBytes) return undefined;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  });
