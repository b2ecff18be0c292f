import { join } from 'node:path';
import { userEnvironment } from './user-environment.js';
import { findGit } from './git.js';
import { userSettings } from './user-settings.js';

/** The list of ignored files that the user has for all repositories: the one setting of theirs that counts, as data. */
export async function userIgnoreFile(untrusted: string): Promise<string> {
  const binary = findGit(untrusted);
  const [chosen] = binary
    ? await userSettings(binary, ['--type=path', '--get', 'core.excludesFile'])
    : [];
  return chosen ?? join(userEnvironment().settings, 'git', 'ignore');
}
