import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { usuallyIgnored } from '@belay/protocol';
import { temporaryPrefix } from '../files/file-bytes.js';
import { isThere } from '../permissions.js';
import type { Git } from './git.js';

export const branch = 'refs/heads/main';
const [name, email] = ['Belay', 'belay@localhost'];
/** The author of every commit. */
export const author = `${name} <${email}>`;

/** The state before the first operation; kept when old steps are dropped. */
export const baseRef = 'refs/belay/base';

/**
 * Creates the repository, or repairs it after a crash; returns whether it is new. No other process writes to it, so a
 * remaining lock is stale. A new repository has only a few files, and `git init` takes ten times as long to write
 * them.
 */
export function prepareRepository({ places: { folder } }: Git): boolean {
  const head = join(folder, 'HEAD');
  const isNew = !isThere(head);
  for (const name of ['info', 'objects', 'refs/heads']) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  for (const left of readdirSync(folder).filter((name) => name.startsWith('bundle-'))) {
    rmSync(join(folder, left), { recursive: true });
  }
  for (const lock of ['index.lock', 'HEAD.lock', `${branch}.lock`, 'shallow.lock']) {
    rmSync(join(folder, lock), { force: true });
  }
  writeFileSync(join(folder, 'config'), config);
  writeFileSync(join(folder, 'info/attributes'), attributes);
  writeFileSync(join(folder, 'info/exclude'), exclude);
  if (isNew) {
    // Written last and atomically, because this file makes the folder a repository.
    writeFileSync(`${head}.lock`, `ref: ${branch}\n`);
    renameSync(`${head}.lock`, head);
  }
  return isNew;
}

/** Settings for speed with many files (measured), for unchanged bytes, and against other programs than git. */
const config = `[core]
	repositoryFormatVersion = 0
	bare = false
	fileMode = true
	symlinks = true
	logAllRefUpdates = false
	autoCrlf = false
	safeCrlf = false
	hooksPath = /dev/null
	attributesFile = /dev/null
	excludesFile = /dev/null
	fsmonitor = false
	untrackedCache = true
	preloadIndex = true
	fsync = none
	looseCompression = 1
	quotePath = true
[feature]
	manyFiles = true
[index]
	version = 4
[status]
	showUntrackedFiles = all
	renames = false
[gc]
	auto = 0
[maintenance]
	auto = false
[pack]
	threads = 1
[tar]
	umask = 0022
[diff]
	external =
	renames = true
[user]
	name = ${name}
	email = ${email}
[commit]
	gpgSign = false
`;

/** Overrides a workspace’s .gitattributes: no conversion of line ends, no filter, nothing left out of an archive. */
const attributes =
  '* -text -ident !eol !crlf !filter !working-tree-encoding !diff !merge !export-ignore !export-subst\n';

const exclude = [...usuallyIgnored.map((name) => `${name}/`), `${temporaryPrefix}*`, ''].join('\n');
