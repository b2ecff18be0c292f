import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Writes a test file and creates its parent folders. */
export function put(folder: string, path: string, content: string | Uint8Array = 'x\n'): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

export const gitIn = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
    encoding: 'utf8',
    stdio: 'pipe',
  });

const commitAll = `git init -q -b main --template=
git add .
git -c user.name=t -c user.email=t@t commit -q -m "$1"`;

/** Makes the folder a repository with one commit of all that is in it, by one process of the test. */
export const commitFolder = (folder: string, message: string): void =>
  void execFileSync('sh', ['-ec', commitAll, 'sh', message], { cwd: folder, stdio: 'pipe' });

/** The file to which the programs of a hostile folder append when they run. */
export class Canary {
  constructor(readonly file: string) {}

  /** The programs that ran and their arguments, one per line. */
  ran(): string {
    return existsSync(this.file) ? readFileSync(this.file, 'utf8') : '';
  }

  reset(): void {
    rmSync(this.file, { force: true });
  }
}

/**
 * A repository with one commit, in which every setting, hook and attribute by which git runs a
 * program names one that writes to the canary. So does a program named git
 * (`node_modules/.bin/git`).
 */
export function hostileRepository(folder: string, canaryFile: string): Canary {
  const program = join(folder, 'tools/evil.sh');
  put(folder, 'tools/evil.sh', `#!/bin/sh\necho "$0 $*" >> '${canaryFile}'\ncat\n`);
  chmodSync(program, 0o755);
  put(folder, 'a.txt', 'one\ntwo\n');
  put(folder, 'node_modules/.bin/git', `#!/bin/sh\necho git >> '${canaryFile}'\nexit 1\n`);
  chmodSync(join(folder, 'node_modules/.bin/git'), 0o755);
  put(folder, '.gitignore', 'node_modules\n');
  commitFolder(folder, 'first');
  put(folder, '.gitattributes', '* filter=evil diff=evil merge=evil\n*.slow filter=slow\n');
  put(folder, 'b.slow', 'slow\n');
  for (const hook of hooks) {
    put(folder, `.git/hooks/${hook}`, readFileSync(program));
    chmodSync(join(folder, '.git/hooks', hook), 0o755);
  }
  put(folder, '.git/included', `[core]\n\tfsmonitor = ${program}\n`);
  put(folder, '.git/config', settings(program));
  put(folder, '.git/config.worktree', `[core]\n\tfsmonitor = ${program}\n`);
  return new Canary(canaryFile);
}

const hooks = (
  'applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg ' +
  'post-commit pre-rebase post-checkout post-merge pre-push pre-receive update post-receive post-update ' +
  'reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman ' +
  'proc-receive post-index-change'
).split(' ');

const settings = (program: string): string => `[core]
	repositoryFormatVersion = 1
	fsmonitor = ${program}
	sshCommand = ${program}
	gitProxy = ${program}
	pager = ${program}
	editor = ${program}
	askPass = ${program}
	alternateRefsCommand = ${program}
[extensions]
	worktreeConfig = true
[include]
	path = included
[includeIf "gitdir:**"]
	path = included
[credential]
	helper = !${program}
[gpg]
	program = ${program}
[commit]
	gpgSign = true
[log]
	showSignature = true
[diff]
	external = ${program}
[diff "evil"]
	command = ${program}
	textconv = ${program}
[merge "evil"]
	driver = ${program} %A
[filter "evil"]
	clean = ${program}
	smudge = ${program}
[filter "slow"]
	process = ${program}
	required = true
[alias]
	ls = !${program}
[uploadpack]
	packObjectsHook = ${program}
[remote "origin"]
	url = ext::${program}
	uploadpack = ${program}
	promisor = true
[submodule "tools"]
	update = !${program}
	url = ext::${program}
[gc]
	auto = 1
	recentObjectsHook = ${program}
`;
