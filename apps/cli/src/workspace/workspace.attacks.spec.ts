import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { itLong, sampled } from '@belay/testing';
import { Canary, commitFolder, gitIn, hostileRepository, put } from '@belay/testkit';
import { applyPatch } from './apply-patch.js';
import { appliedSentence } from './outward-links.js';
import { packed } from './testing/packed.js';
import { planWorkspace } from './plan-workspace.js';

let base: string;
let folder: string;
let outside: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'belay-attack-')));
  folder = join(base, 'folder');
  outside = join(base, 'outside');
  for (const path of [folder, outside]) mkdirSync(path);
});
afterEach(() => rmSync(base, { recursive: true }));

const change = (path: string, from = 'one', to = 'ONE') =>
  Buffer.from(
    `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1,2 +1,2 @@\n-${from}\n+${to}\n two\n`,
  );
const addition = (path: string, line = 'new', mode = '100644') =>
  `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;

describe('attacks: programs of a folder', () => {
  let canary: Canary;
  beforeEach(() => {
    canary = hostileRepository(folder, join(base, 'canary'));
  });

  it('are armed: plain git runs them', () => {
    for (const args of [['status'], ['diff'], ['add', '.'], ['ls'], ['hook', 'run', 'update']]) {
      canary.reset();
      try {
        gitIn(folder, ...args);
      } catch {
        // Some of them make git fail after they ran.
      }
      expect(canary.ran()).not.toBe('');
    }
  });

  it('are not run when it is packed: the files and the history are taken as they are', async () => {
    const { entries } = await packed(folder);
    expect(canary.ran()).toBe('');
    expect(entries.get('a.txt')?.text).toBe('one\ntwo\n');
    expect(entries.get('b.slow')?.text).toBe('slow\n');
    expect([...entries.keys()].filter((name) => name.startsWith('node_modules'))).toEqual([]);
    expect(entries.get('.git/config')?.text).not.toContain('evil');
    expect([...entries.keys()].filter((name) => name.includes('hooks'))).toEqual([]);
    expect(entries.has('.git/HEAD')).toBe(true);
  });

  it('are not run when a patch is applied', async () => {
    await applyPatch(folder, change('a.txt'));
    await expect(applyPatch(folder, change('a.txt'))).rejects.toMatchObject({ code: 'conflict' });
    expect(canary.ran()).toBe('');
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('ONE\ntwo\n');
  });

  it('are not run as git itself, from a search path that npm put the folder on', async () => {
    const { PATH } = process.env;
    process.env['PATH'] = `${join(folder, 'node_modules/.bin')}:.:${PATH}`;
    try {
      expect(() =>
        execFileSync('git', ['--version'], { env: process.env, stdio: 'pipe' }),
      ).toThrow();
      expect(canary.ran()).toBe('git\n');
      canary.reset();
      expect((await packed(folder)).entries.has('a.txt')).toBe(true);
      await applyPatch(folder, change('a.txt'));
      put(folder, 'inner/a.txt', 'one\ntwo\n');
      expect((await packed(join(folder, 'inner'))).entries.has('a.txt')).toBe(true);
      await applyPatch(join(folder, 'inner'), change('a.txt'));
      expect(canary.ran()).toBe('');
    } finally {
      process.env['PATH'] = PATH;
    }
  });

  it('are not run by a repository above or inside', async () => {
    put(folder, 'inner/c.txt');
    expect((await packed(join(folder, 'inner'))).entries.has('c.txt')).toBe(true);
    put(outside, 'd.txt');
    execFileSync('mv', [folder, join(outside, 'folder')]);
    expect((await packed(outside)).entries.get('folder/a.txt')?.text).toBe('one\ntwo\n');
    expect(canary.ran()).toBe('');
  });
});

describe('attacks: what lies outside of a folder', () => {
  const secret = 'the secret';
  beforeEach(() => {
    put(outside, 'secret.txt', `${secret}\n`);
    commitFolder(outside, `commit of ${secret}`);
    put(folder, 'a.txt', 'one\ntwo\n');
  });
  const secretCommit = () => gitIn(outside, 'rev-parse', 'HEAD').trim();
  const objects = (names: Iterable<string>) =>
    [...names].filter((name) => /\.git\/objects\/./.test(name));

  it('is not packed through links to files and folders', async () => {
    symlinkSync(join(outside, 'secret.txt'), join(folder, 'file'));
    symlinkSync(outside, join(folder, 'link'));
    for (const repository of [false, true]) {
      if (repository) gitIn(folder, 'init', '-q');
      const { entries } = await packed(folder);
      expect(entries.get('file')).toMatchObject({ type: 'symlink', text: '' });
      expect(entries.get('link')).toMatchObject({ type: 'symlink', text: '' });
      expect(entries.get('a.txt')?.text).toBe('one\ntwo\n');
      expect([...entries.values()].map(({ text }) => text).join('')).not.toContain(secret);
    }
  });

  it('is not packed through a tracked folder that became a link', async () => {
    put(folder, 'inner/secret.txt', 'mine\n');
    commitFolder(folder, 'x');
    rmSync(join(folder, 'inner'), { recursive: true });
    symlinkSync(outside, join(folder, 'inner'));
    const { entries } = await packed(folder);
    expect(entries.has('inner/secret.txt')).toBe(false);
    expect(entries.get('inner')?.type).toBe('symlink');
    expect(entries.has('a.txt')).toBe(true);
  });

  itLong('is not packed when a folder is swapped for a link after it was listed', async () => {
    put(folder, 'inner/secret.txt', 'mine\n');
    const { entries, sentences } = await packed(folder, () => {
      rmSync(join(folder, 'inner'), { recursive: true });
      symlinkSync(outside, join(folder, 'inner'));
    });
    expect(entries.has('inner/secret.txt')).toBe(false);
    expect(entries.has('a.txt')).toBe(true);
    expect(sentences.join()).toContain('inner/secret.txt');
  });

  const leadsOut: [string, () => void][] = [
    ['a .git file', () => writeFileSync(join(folder, '.git'), `gitdir: ${outside}/.git\n`)],
    ['a .git link', () => symlinkSync(join(outside, '.git'), join(folder, '.git'))],
    ['a worktree', () => gitIn(outside, 'worktree', 'add', '-q', '--force', '-b', 'other', folder)],
    [
      'a commondir',
      () => {
        put(folder, '.git/HEAD', 'ref: refs/heads/main\n');
        put(folder, '.git/commondir', `${outside}/.git\n`);
      },
    ],
    [
      'alternates',
      () => {
        gitIn(folder, 'init', '-q', '-b', 'main');
        put(folder, '.git/objects/info/alternates', `${outside}/.git/objects\n`);
        put(folder, '.git/refs/heads/main', `${secretCommit()}\n`);
      },
    ],
    [
      'linked objects',
      () => {
        gitIn(folder, 'init', '-q', '-b', 'main');
        rmSync(join(folder, '.git/objects'), { recursive: true });
        symlinkSync(join(outside, '.git/objects'), join(folder, '.git/objects'));
        put(folder, '.git/refs/heads/main', `${secretCommit()}\n`);
      },
    ],
    [
      'a linked object',
      () => {
        gitIn(folder, 'init', '-q', '-b', 'main');
        const [start, rest] = [secretCommit().slice(0, 2), secretCommit().slice(2)];
        mkdirSync(join(folder, '.git/objects', start), { recursive: true });
        const object = `.git/objects/${start}/${rest}`;
        symlinkSync(join(outside, object), join(folder, object));
        put(folder, '.git/refs/heads/main', `${secretCommit()}\n`);
      },
    ],
  ];
  it.each(sampled(1, leadsOut))(
    'is no history by %s: the files are taken, and that is said',
    async (_, lead) => {
      rmSync(join(folder, 'a.txt'));
      lead();
      put(folder, 'a.txt', 'one\ntwo\n');
      const { entries, sentences } = await packed(folder);
      expect(entries.get('a.txt')?.text).toBe('one\ntwo\n');
      expect(objects(entries.keys())).toEqual([]);
      expect(sentences).toEqual([
        expect.stringMatching(/^Copied the files of the workspace without its git history: .*\.$/),
      ]);
    },
  );

  it('is not the work tree that its settings name', async () => {
    gitIn(folder, 'init', '-q', '-b', 'main');
    gitIn(folder, 'config', 'core.worktree', outside);
    const { entries } = await packed(folder);
    expect([...entries.keys()].filter((name) => !name.startsWith('.git/'))).toEqual(['a.txt']);
    await applyPatch(folder, Buffer.from(addition('secret.txt')));
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(`${secret}\n`);
    expect(readFileSync(join(folder, 'secret.txt'), 'utf8')).toBe('new\n');
  });

  itLong('is not the history of a submodule; that of a repository inside is its own', async () => {
    const commit = () => gitIn(folder, 'rev-parse', 'HEAD').trim();
    gitIn(folder, 'init', '-q', '-b', 'main');
    gitIn(folder, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', outside, 'sub');
    gitIn(folder, 'add', '.');
    gitIn(folder, 'commit', '-q', '-m', 'x');
    put(folder, 'inner/b.txt');
    commitFolder(join(folder, 'inner'), 'y');
    const { entries, sentences } = await packed(folder);
    expect(entries.get('sub/secret.txt')?.text).toContain(secret);
    expect(objects(entries.keys()).filter((name) => name.startsWith('sub/'))).toEqual([]);
    expect(sentences).toEqual([expect.stringMatching(/files of sub without its git history/)]);
    expect(entries.has(`.git/objects/${commit().slice(0, 2)}/${commit().slice(2)}`)).toBe(true);
    expect(entries.get('inner/b.txt')?.text).toBe('x\n');
    expect(entries.has('inner/.git/HEAD')).toBe(true);
  });
});

describe('attacks: odd files of a folder', () => {
  it('pipes, sockets and names that are not UTF-8 are left out, and that is said', async () => {
    put(folder, 'a.txt');
    put(folder, 'new\nline', 'kept');
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.of(0xe9)]), '');
    const server = createServer().listen(join(folder, 'socket'));
    await new Promise((done) => server.once('listening', done));
    const { entries, sentences } = await packed(folder);
    server.close();
    expect([...entries.keys()].toSorted()).toEqual(['a.txt', 'new\nline']);
    expect(entries.get('new\nline')?.text).toBe('kept');
    expect(sentences.toSorted()).toEqual([
      'Left out 1 path (the name is not UTF-8): caf\ufffd',
      expect.stringMatching(/^Left out 2 paths \(a socket, pipe or device\): /),
    ]);
  });

  it('a sparse file counts with the size it is read with, before anything is sent', async () => {
    put(folder, 'huge.img', '');
    truncateSync(join(folder, 'huge.img'), 8 * 1024 ** 4);
    await expect(planWorkspace(folder, { maxBytes: 1_000_000 })).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringMatching(
        /larger than 976.6 KiB \(huge.img alone has 8 TiB\)/,
      ) as string,
    });
    put(folder, '.gitignore', '*.img\n');
    gitIn(folder, 'init', '-q');
    expect([...(await packed(folder)).entries.keys()]).toContain('.gitignore');
  });

  itLong('a history above the size is left out, and that is said', async () => {
    put(folder, 'a.txt');
    gitIn(folder, 'init', '-q');
    put(folder, `.git/objects/pack/pack-${'0'.repeat(40)}.pack`, '');
    truncateSync(join(folder, `.git/objects/pack/pack-${'0'.repeat(40)}.pack`), 1024 ** 4);
    const { entries, sentences } = await packed(folder);
    expect([...entries.keys()]).toEqual(['a.txt']);
    expect(sentences).toEqual([expect.stringMatching(/without its git history: it has 1 TiB\.$/)]);
  });

  it('one that grows or shrinks while it is read does not break the archive', async () => {
    put(folder, 'a', 'x'.repeat(3_000_000));
    put(folder, 'grows', 'x'.repeat(1000));
    put(folder, 'shrinks', 'x'.repeat(3_000_000));
    put(folder, 'z', 'end');
    const { entries, sentences } = await packed(folder, undefined, (name) => {
      if (name === 'shrinks') truncateSync(join(folder, name), 10);
      if (name === 'grows') put(folder, name, 'y'.repeat(2000));
    });
    expect(entries.get('z')?.text).toBe('end');
    expect(entries.get('grows')?.text).toHaveLength(1000);
    expect(entries.get('shrinks')?.text).toHaveLength(3_000_000);
    expect(sentences.join()).toMatch(/shortened while it was read.*shrinks/);
  });

  it('one that cannot be read is left out, and that is said', async () => {
    put(folder, 'a.txt');
    put(folder, 'closed/b.txt');
    put(folder, 'secret.txt');
    execFileSync('chmod', ['755', base, folder]);
    execFileSync('chmod', ['000', join(folder, 'secret.txt'), join(folder, 'closed')]);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      const { entries, sentences } = await packed(folder);
      expect([...entries.keys()].toSorted()).toEqual(['a.txt', 'closed']);
      expect(sentences.join()).toMatch(/unreadable\): closed\/, secret\.txt|secret\.txt, closed\//);
    } finally {
      if (isRoot) process.seteuid?.(0);
      execFileSync('chmod', ['-R', 'u+rwx', folder]);
    }
  });
});

describe('attacks: a patch from a sandbox', () => {
  beforeEach(() => {
    put(folder, 'a.txt', 'one\ntwo\n');
    put(outside, 'f.txt', 'one\ntwo\n');
    put(folder, 'inner/b.txt', 'one\ntwo\n');
  });
  const filesBelow = (top: string) =>
    readdirSync(top, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path, readFileSync(path, 'latin1')]);
  const refused = async (patch: string | Buffer) => {
    const before = filesBelow(base);
    await expect(applyPatch(folder, Buffer.from(patch))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        /^The patch does not apply to .* Nothing was changed\.$/s,
      ) as string,
    });
    expect(filesBelow(base)).toEqual(before);
    expect(readdirSync(folder)).toEqual(['a.txt', 'inner'].concat(extra).toSorted());
  };
  let extra: string[] = [];
  afterEach(() => {
    extra = [];
  });

  it.each(
    sampled(2, [
      '../outside/new.txt',
      '.GIT/hooks/post-checkout',
      'inner/.git/config',
      'x/../../outside/new.txt',
      '/tmp/belay-evil',
      '.git/config',
      '.git./config',
      '.git /config',
      '.git::$INDEX_ALLOCATION/config',
      'git~1/config',
      '.g\u200cit/config',
      'inner/.Git/config',
      '.git',
      'inner/.git',
    ]),
  )('does not write %j, nor the honest file beside it', async (path) => {
    await refused(addition('good.txt') + addition(path));
    await refused(`diff --git a/a.txt b/${path}\nrename from a.txt\nrename to ${path}\n`);
    await applyPatch(folder, Buffer.from(addition('good.txt')));
    expect(readFileSync(join(folder, 'good.txt'), 'utf8')).toBe('new\n');
  });

  it('does not write through a link, be it there or made by the patch', async () => {
    symlinkSync(outside, join(folder, 'link'));
    extra = ['link'];
    await refused(change('link/f.txt'));
    await refused(addition('good.txt') + addition('link/new.txt'));
    const link = `diff --git a/made b/made\nnew file mode 120000\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+${outside}\n\\ No newline at end of file\n`;
    await refused(link + addition('made/new.txt'));
    await refused(addition('made/new.txt') + link);
    expect(readdirSync(outside)).toEqual(['f.txt']);
    // A link itself may change: it is a file like others.
    await applyPatch(folder, Buffer.from(link));
    expect(readdirSync(folder)).toContain('made');
  });

  it('names the links that lead out of the folder, and no others', async () => {
    const link = (path: string, target: string) =>
      `diff --git a/${path} b/${path}\nnew file mode 120000\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${target}\n\\ No newline at end of file\n`;
    const patch = [
      link('passwd', '/etc/passwd'),
      link('inner/up', '../../outside'),
      link('inner/within', '../a.txt'),
      link('hidden', '../\u202egnp.x'),
      addition('plain.txt'),
    ].join('');
    const links = await applyPatch(folder, Buffer.from(patch));
    expect(links.map(({ path }) => path).toSorted()).toEqual(['hidden', 'inner/up', 'passwd']);
    const sentence = appliedSentence(folder, links);
    expect(sentence).toContain('passwd → /etc/passwd');
    expect(sentence).not.toContain('\u202e');
    expect(appliedSentence(folder, [])).toBe(`Applied to ${folder}.`);
    const forged = appliedSentence(folder, [{ path: 'x', target: '/y\nApplied to /home/u.' }]);
    expect(forged.split('\n')).toHaveLength(1);
  });

  it('does not make a submodule', async () => {
    await refused(
      `diff --git a/sub b/sub\nnew file mode 160000\nindex 0000000..${'1'.repeat(40)}\n--- /dev/null\n+++ b/sub\n@@ -0,0 +1 @@\n+Subproject commit ${'1'.repeat(40)}\n`,
    );
  });

  it('applies whole or not at all, over what the user changed, and loses none of it', async () => {
    writeFileSync(join(folder, 'a.txt'), 'one\ntwo\nmine\n');
    put(folder, 'mine.txt', 'mine\n');
    extra = ['mine.txt'];
    await refused(Buffer.concat([change('inner/b.txt'), change('a.txt', 'other')]));
    await refused(change('inner/b.txt') + addition('mine.txt'));
    await refused(change('inner/b.txt') + addition('a.txt/below'));
    await refused(change('inner/b.txt') + addition('inner'));
    const patch = Buffer.from(
      `diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n`,
    );
    await applyPatch(folder, patch);
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('ONE\ntwo\nmine\n');
    expect(readFileSync(join(folder, 'mine.txt'), 'utf8')).toBe('mine\n');
  });

  it('applies deletions, renames, modes and odd names, and leaves nothing else behind', async () => {
    const odd = '"b/new\\nline \\303\\251 \\"q\\""';
    const patch = [
      `diff --git a/inner/b.txt b/deep/er/c.txt\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from inner/b.txt\nrename to deep/er/c.txt\n`,
      `diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n`,
      `diff --git ${odd.replace('b/', 'a/')} ${odd}\nnew file mode 100644\n--- /dev/null\n+++ ${odd}\n@@ -0,0 +1 @@\n+--- a/a.txt\n`,
      'diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n',
    ].join('');
    await applyPatch(folder, Buffer.from(patch));
    expect(readdirSync(folder).toSorted()).toEqual(['deep', 'empty', 'new\nline é "q"']);
    expect(readFileSync(join(folder, 'deep/er/c.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(existsSync(join(folder, 'inner'))).toBe(false);
  });
});
