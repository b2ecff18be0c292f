import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { gitIdentity, type GitIdentity } from '@belay/protocol';
import { reach } from './reach.js';
import type { UserEnvironment } from './user-environment.js';
import { findGit, git } from './git.js';
import { userSettings } from './user-settings.js';

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
  const list = ['--get-regexp', '^user\\.(name|email)$'];
  const args = ['config', '--file', '-', '--no-includes', '--null', ...list];
  const options = { binary, folder: '/', environment: {}, timeoutMs: 5_000, maxBytes: 10_000 };
  try {
    const own = input && (await git(args, { ...options, input }));
    let found = own?.code === 0 ? namesIn(own.output.toString().split('\0').slice(0, -1)) : {};
    if (found['user.name'] === undefined || found['user.email'] === undefined)
      found = { ...namesIn(await userSettings(binary, list, places)), ...found };
    const { 'user.name': name, 'user.email': email } = found;
    return gitIdentity.safeParse({ name, email }).data ?? null;
  } catch {
    return null; // The default is used: a session needs no identity of its user.
  }
}

/** By key, from lines of keys and values; the last value counts, and one that is not given is empty. */
const namesIn = (settings: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    settings.map((one) => {
      const [key = '', ...value] = one.split('\n');
      return [key, value.join('\n')];
    }),
  );

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
