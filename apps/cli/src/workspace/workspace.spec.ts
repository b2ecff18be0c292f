import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gitIn as git, put as putIn } from '@belay/testkit';
import { applyPatch } from './apply-patch.js';
import { checkedFolder } from './plan-workspace.js';
import { packed } from './testing/packed.js';

describe('a workspace', () => {
  let root: string;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'belay-cli-')));
  });
  afterEach(() => rmSync(root, { recursive: true }));
  const put = (path: string, text: string) => putIn(root, path, text);
  it('of no repository is packed whole, with modes and links', async () => {
    put('a/b.txt', 'text');
    put('run.sh', '#!/bin/sh');
    put('empty', '');
    chmodSync(join(root, 'run.sh'), 0o755);
    symlinkSync('a/b.txt', join(root, 'link'));
    const { entries } = await packed(root);
    expect([...entries.keys()].toSorted()).toEqual(['a', 'a/b.txt', 'empty', 'link', 'run.sh']);
    expect(entries.get('run.sh')?.mode).toBe(0o755);
    expect(entries.get('a/b.txt')?.text).toBe('text');
    expect(entries.get('link')).toMatchObject({ type: 'symlink', link: 'a/b.txt' });
  });

  it('of no repository is packed without what its ignore files name, and installed packages', async () => {
    put('.gitignore', '.env\n');
    put('.env', 'SECRET=abc');
    put('app/.gitignore', '*.log\n!kept.log\n');
    put('app/a.log', '');
    put('app/kept.log', '');
    put('b.log', '');
    put('node_modules/x/index.js', '');
    const { entries } = await packed(root);
    expect([...entries.keys()].toSorted()).toEqual(
      ['.gitignore', 'app', 'app/.gitignore', 'app/kept.log', 'b.log'].toSorted(),
    );
  });

  it('of a repository is packed without ignored files, hooks and remotes, with its history', async () => {
    git(root, 'init', '-q');
    put('.gitignore', 'node_modules\n');
    put('kept.txt', '1');
    put('node_modules/x.js', '');
    git(root, 'add', '.');
    git(root, 'commit', '-qm', 'first');
    git(root, 'remote', 'add', 'origin', 'https://user:secret@example.org/x.git');
    put('.git/hooks/post-checkout', '#!/bin/sh\ntouch ran');
    chmodSync(join(root, '.git/hooks/post-checkout'), 0o755);
    put('untracked.txt', '2');
    const { entries } = await packed(root);
    const names = [...entries.keys()];
    expect(names.filter((name) => !name.startsWith('.git/')).toSorted()).toEqual(
      ['.git', '.gitignore', 'kept.txt', 'untracked.txt'].filter((name) => entries.has(name)),
    );
    expect(names).toEqual(
      expect.arrayContaining([
        '.gitignore',
        'kept.txt',
        'untracked.txt',
        '.git/HEAD',
        '.git/index',
      ]),
    );
    expect(names.filter((name) => name.includes('hooks/'))).toEqual([]);
    expect(entries.get('.git/config')?.text).not.toContain('secret');
  });

  it('below the top of a repository is packed without the history of what is above', async () => {
    git(root, 'init', '-q');
    put('inner/a.txt', 'a');
    put('b.txt', 'b');
    git(root, 'add', '.');
    git(root, 'commit', '-qm', 'first');
    expect([...(await packed(join(root, 'inner'))).entries.keys()]).toEqual(['a.txt']);
  });

  it('takes a patch, also below the top of a repository, whole or not at all', async () => {
    git(root, 'init', '-q');
    put('inner/a.txt', 'one\ntwo\n');
    const inner = join(root, 'inner');
    const patch = (line: string) =>
      Buffer.from(`--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n ${line}\n-two\n+three\n`);
    await applyPatch(inner, patch('one'));
    expect(readFileSync(join(inner, 'a.txt'), 'utf8')).toBe('one\nthree\n');
    await expect(applyPatch(inner, patch('other'))).rejects.toThrow(
      /The patch does not apply to .*inner: error:/,
    );
    expect(readFileSync(join(inner, 'a.txt'), 'utf8')).toBe('one\nthree\n');
  });

  it('takes a patch and keeps the rights of its files but for the right to run', async () => {
    put('a.sh', 'one\n');
    chmodSync(join(root, 'a.sh'), 0o640);
    const mode = 'old mode 100644\nnew mode 100755\n';
    await applyPatch(root, Buffer.from(`diff --git a/a.sh b/a.sh\n${mode}`));
    expect(statSync(join(root, 'a.sh')).mode & 0o777).toBe(0o750);
    await applyPatch(root, Buffer.from('--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-one\n+two\n'));
    expect(statSync(join(root, 'a.sh')).mode & 0o777).toBe(0o750);
  });

  it('must be there and be a folder', async () => {
    put('file', '');
    await expect(checkedFolder(join(root, 'none'))).rejects.toThrow(/none does not exist\.$/);
    await expect(checkedFolder(join(root, 'file'))).rejects.toThrow(/file is not a folder\.$/);
    expect(await checkedFolder(root)).toBe(root);
  });
});
