import { userEnvironment, type UserEnvironment } from './user-environment.js';
import { git } from './git.js';

type Places = Pick<UserEnvironment, 'home' | 'settings'>;

/** What the user’s own settings of git say, each without its zero; none where they say nothing. */
export async function userSettings(
  binary: string,
  args: readonly string[],
  { home, settings }: Places = userEnvironment(),
): Promise<string[]> {
  const { code, output } = await git(['config', '--global', '--null', ...args], {
    binary,
    folder: '/',
    environment: { HOME: home, XDG_CONFIG_HOME: settings, GIT_CONFIG_GLOBAL: undefined },
    timeoutMs: 5_000,
    maxBytes: 10_000,
  });
  return code === 0 ? output.toString().split('\0').slice(0, -1) : [];
}
