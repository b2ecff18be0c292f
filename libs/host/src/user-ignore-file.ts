import { join } from 'node:path';
import { userEnvironment } from './config.js';
import { findGit, git } from './git.js';

/** The list of ignored files that the user has for all repositories: the one setting of theirs that counts, as data. */
export async function userIgnoreFile(untrusted: string): Promise<string> {
  const { home, settings } = userEnvironment();
  const usual = join(settings, 'git', 'ignore');
  const binary = findGit(untrusted);
  if (!binary) return usual;
  const args = ['config', '--global', '--type=path', '--get', 'core.excludesFile'];
  const { code, output } = await git(args, {
    binary,
    folder: '/',
    environment: { HOME: home, XDG_CONFIG_HOME: settings, GIT_CONFIG_GLOBAL: undefined },
  });
  return code === 0 ? output.toString().trimEnd() : usual;
}
