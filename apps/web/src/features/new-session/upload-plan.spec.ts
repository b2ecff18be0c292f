import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { packTar } from './pack-tar';
import { folderOfFiles } from './picked-folder';
import { planUpload } from './upload-plan';

describe('the parts of a folder that a browser sends', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'belay-upload-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));
  const put = (path: string, text = path) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const git = (folder: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@localhost', ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' },
    });
  const plan = () => planUpload(folderOfFiles(chosen(root)));
  const names = async () => (await plan()).files.map(({ path }) => path).toSorted();
  /** What git would take. */
  const listed = () =>
    git(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard')
      .split('\0')
      .filter(Boolean)
      .toSorted();

  it('are those that git takes: nested ignore files, negation, tracked files, excludes', async () => {
    put('.gitignore', '.env\nnode_modules/\n*.log\n/build\n!kept.log\ntracked/\n');
    put('.env', 'SECRET=abc');
    put('app/.gitignore', '*.tmp\n!/b.tmp\n');
    for (const path of ['app/a.tmp', 'app/b.tmp', 'app/deep/b.tmp', 'a.log', 'app/kept.log'])
      put(path);
    for (const path of ['build/x', 'app/build/x', 'node_modules/a/index.js', 'app/ünïcode ✓.txt'])
      put(path);
    for (const path of ['tracked/in.txt', 'tracked/deep/in.log', 'forced.log']) put(path);
    git(root, 'init', '-q');
    put('.git/info/exclude', 'private.txt\n');
    put('private.txt');
    git(root, 'add', '-f', 'tracked/in.txt', 'tracked/deep/in.log', 'forced.log', 'app/kept.log');
    expect(await names()).toEqual(listed());
    // The positive control: the list has both sides of the rules.
    expect(listed()).toEqual(expect.arrayContaining(['forced.log', 'tracked/in.txt', 'app/b.tmp']));
    expect(await names()).not.toContain('.env');
    expect((await plan()).ignored).toEqual(
      expect.arrayContaining(['.env', 'node_modules/', 'build/', 'private.txt', 'app/a.tmp']),
    );
  });

  it.each(['2', '3', '4'])('are read from an index of version %s', async (version) => {
    git(root, 'init', '-q');
    put('.gitignore', '*\n');
    for (const path of ['a', 'ab/c', 'ab/cd', `${'long/'.repeat(40)}name`, 'z']) put(path);
    git(root, 'add', '-f', '.');
    if (version === '3') git(root, 'update-index', '--skip-worktree', 'ab/c');
    git(root, 'update-index', '--index-version', version);
    put('untracked');
    const tracked = git(root, 'ls-files')
      .split('\n')
      .filter((path) => path && !path.startsWith('.git/'));
    expect(await names()).toEqual(tracked.toSorted());
    expect(await names()).not.toContain('untracked');
  });

  it('are unpacked with their history, modes and no settings of the user', async () => {
    git(root, 'init', '-q', '-b', 'main');
    put('run.sh', '#!/bin/sh\n');
    chmodSync(join(root, 'run.sh'), 0o755);
    put('src/a.ts');
    git(root, 'add', '.');
    git(root, 'commit', '-qm', 'first');
    git(root, 'tag', 'v1');
    git(root, 'remote', 'add', 'origin', 'https://user:secret@example.org/x.git');
    put('src/a.ts', 'changed');
    const { files, history } = await plan();
    const archive = packTar([...files, ...history]);
    const copy = mkdtempSync(join(tmpdir(), 'belay-upload-'));
    try {
      execFileSync('tar', ['-xf', '-'], {
        cwd: copy,
        input: Buffer.from(await archive.arrayBuffer()),
      });
      expect(git(copy, 'status', '--porcelain')).toBe(' M src/a.ts\n');
      expect(git(copy, 'log', '--format=%s %D').trim()).toBe('first HEAD -> main, tag: v1');
      expect(readFileSync(join(copy, '.git/config'), 'utf8')).not.toContain('secret');
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  it('of a repository inside follow its own rules', async () => {
    git(root, 'init', '-q');
    put('.gitignore', '*.log\n');
    git(join(root), 'init', '-q', 'inner');
    put('inner/a.log');
    put('inner/.gitignore', '*.tmp\n');
    put('inner/a.tmp');
    expect(await names()).toEqual(['.gitignore', 'inner/.gitignore', 'inner/a.log']);
    expect((await plan()).history.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['.git/HEAD', 'inner/.git/HEAD']),
    );
  });

  it('of no repository are what its ignore files leave, without installed packages', async () => {
    put('.gitignore', '.env\n');
    put('.env');
    put('a.txt');
    put('node_modules/x/index.js');
    expect(await names()).toEqual(['.gitignore', 'a.txt']);
    expect((await plan()).ignored).toEqual(['.env', 'node_modules/']);
  });

  it('are looked for only where a folder lists them', async () => {
    put('.gitignore', '*.log\n');
    for (const path of ['a/b/c.txt', 'd/e.txt']) put(path);
    const folder = folderOfFiles(chosen(root));
    const texts = jest.spyOn(folder, 'text');
    const items = jest.spyOn(folder, 'item');
    expect((await planUpload(folder)).files).toHaveLength(3);
    expect(texts.mock.calls.map(([path]) => path)).toEqual(['.gitignore']);
    expect(items).not.toHaveBeenCalled();
  });

  it('leave out links, and say so', async () => {
    git(root, 'init', '-q');
    put('a.txt');
    symlinkSync('/etc/hostname', join(root, 'link'));
    git(root, 'add', '.');
    const { files, notes } = await plan();
    expect(files.map(({ path }) => path)).toEqual(['a.txt']);
    expect(notes).toEqual(['Left out link: browsers cannot read links.']);
  });

  it('are searched for secrets, by name and by content', async () => {
    put('.env', 'A=1');
    put('.env.example', 'A=');
    put('src/config.ts', `export const key = 'AKIA${'B2'.repeat(8)}';`);
    put('src/index.ts', 'export {};');
    expect((await plan()).secrets).toEqual([
      { path: 'src/config.ts', what: 'an AWS key' },
      { path: '.env', what: 'by its name' },
    ]);
  });
});

/** The files of a folder as a browser lists them: with links followed. */
function chosen(root: string): File[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const file = new File([readFileSync(path)], entry.name, { lastModified: 1_700_000_000_000 });
      return Object.assign(file, { webkitRelativePath: `app/${relative(root, path)}` });
    });
}
