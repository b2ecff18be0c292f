import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GitIdentity } from '@belay/protocol';
import { isThere } from './permissions.js';

export interface HomeSettings {
  /** Cargo’s settings for the host’s registries. */
  cargo?: string | undefined;
  /** The path of the image’s own git settings. */
  systemGit?: string;
}

/**
 * Writes the settings that programs expect in the home folder, and keeps existing files of the image or the session.
 */
export function writeHomeSettings(
  home: string,
  { cargo, systemGit = '/etc/gitconfig' }: HomeSettings,
): void {
  if (cargo !== undefined) writeNew(join(home, '.cargo/config.toml'), cargo);
  if (!hasIdentity(systemGit)) writeNew(join(home, gitSettings), identityOf(agent));
}

/** Sets the committer, unless the session has set another one. */
export function writeIdentity(home: string, who: GitIdentity): void {
  const file = join(home, gitSettings);
  const isOwn = !isThere(file) || readFileSync(file, 'utf8') === identityOf(agent);
  if (!isOwn) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, identityOf(who));
}

/** Has lower priority than a repository’s settings and `~/.gitconfig`, so that their committer takes precedence. */
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
