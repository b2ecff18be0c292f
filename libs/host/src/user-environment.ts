import { homedir } from 'node:os';
import { join } from 'node:path';

/** What of the user’s environment git on the host depends on. */
export interface UserEnvironment {
  path: string;
  home: string;
  /** The folder of the user’s settings. */
  settings: string;
}

export const userEnvironment = (): UserEnvironment => ({
  path: process.env['PATH'] ?? '/usr/bin:/bin',
  home: homedir(),
  settings: process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'),
});
