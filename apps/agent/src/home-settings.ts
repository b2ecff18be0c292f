import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GitIdentity } from '@belay/protocol';
import { isThere } from './permissions.js';

export interface HomeSettings {
  /** Cargo’s settings for the host’s registries. */
  cargo?: string | undefined;
  /** The image’s own settings of git. */
  systemGit?: string;
}

/** Writes the settings that programs expect in the home folder; what an image or a session has written stays. */
export function writeHomeSettings(
  home: string,
  { cargo, systemGit = '/etc/gitconfig' }: HomeSettings,
): void {
  if (cargo !== undefined) writeNew(join(home, '.cargo/config.toml'), cargo);
  if (!hasIdentity(systemGit)) writeNew(join(home, gitSettings), identityOf(agent));
}

/** Sets who commits, unless the session has set it otherwise. */
export function writeIdentity(home: string, who: GitIdentity): void {
  const file = join(home, gitSettings);
  const isOwn = !isThere(file) || readFileSync(file, 'utf8') === identityOf(agent);
  if (!isOwn) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, identityOf(who));
}

/** Below the settings of a repository and `~/.gitconfig`: whoever says who commits is believed before this. */
const gitSettings = '.config/git/config';
const agent: GitIdentity = { name: 'Belay agent', email: 'agent@belay.invalid' };

const identityOf = ({ name, email }: GitIdentity): string =>
  `[user]\n\tname = ${quoted(name)}\n\temail = ${quoted(email)}\n`;

const quoted = (value: string): string => `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

function hasIdentity(file: string): boolean {
  try {
    return /^\s*\[user\]/im.test(readFileSync(file, 'utf8'));
  } catch {
    return false;
  }
}

function writeNew(file: string, text: string): void {
  if (isThere(file)) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
