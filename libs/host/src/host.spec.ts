import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  findGit,
  git,
  isSafePath,
  PrivateRepository,
  reach,
  readFolder,
  userIdentity,
} from './index.js';

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'belay-host-')));
  for (const path of ['root/inner', 'outside']) mkdirSync(join(base, path), { recursive: true });
  writeFileSync(join(base, 'root/inner/f'), 'inside');
  writeFileSync(join(base, 'outside/f'), 'outside');
});
afterEach(() => rmSync(base, { recursive: true }));

/** The files below a folder that this process has open. */
function openBelow(folder: string): string[] {
  const target = (name: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      // Closed by now, such as that of this list.
      return '';
    }
  };
  return readdirSync('/proc/self/fd')
    .map(target)
    .filter((path) => path.startsWith(folder));
}

describe('attacks: a path below a folder', () => {
  const root = () => join(base, 'root');
  const text = (path: string) => reach(root(), path, ({ at }) => readFile(at, 'utf8'));

  it('reaches files below, by no link and no ..', async () => {
    symlinkSync(join(base, 'outside'), join(root(), 'link'));
    symlinkSync('inner', join(root(), 'within'));
    expect(await text('inner/f')).toBe('inside');
    for (const path of ['link/f', 'within/f', '../outside/f', 'inner/../../outside/f', 'inner/f/g'])
      await expect(text(path)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(readFolder(root(), 'link')).rejects.toMatchObject({ code: 'forbidden' });
    expect(
      (await readFolder(root(), '')).map(({ name, kind }) => `${kind} ${String(name)}`),
    ).toEqual(expect.arrayContaining(['folder inner', 'link link', 'link within']));
  });

  it('stays in the folder that was opened when a link takes its place', async () => {
    const read = reach(root(), 'inner/f', ({ at }) => {
      renameSync(join(root(), 'inner'), join(root(), 'away'));
      symlinkSync(join(base, 'outside'), join(root(), 'inner'));
      return readFile(at, 'utf8');
    });
    expect(await read).toBe('inside');
  });

  it('makes folders only where asked, and gives them back', async () => {
    await expect(text('new/er/f')).rejects.toMatchObject({ code: 'ENOENT' });
    const made: string[] = [];
    const make = (folder: Buffer) => void made.push(folder.toString());
    await reach(root(), 'new/er/f', () => Promise.resolve(), { make });
    expect(made).toEqual(['new', 'new/er']);
  });

  it('closes what it opened', async () => {
    await reach(root(), 'inner/f', async () => expect(openBelow(base)).not.toEqual([]));
    await text('inner/none/f').catch(() => undefined);
    expect(openBelow(base)).toEqual([]);
  });
});

describe('attacks: git on the host', () => {
  it('is a program outside of the folder, by an absolute path', () => {
    const program = findGit();
    expect(program).toMatch(/^\/.*git/);
    expect(findGit(join(String(program), '..'))).not.toBe(program);
  });

  it('has no settings of the user, and ends when it takes too long or says too much', async () => {
    const repository = await PrivateRepository.create();
    try {
      const { output } = await repository.run(['config', '--list', '--show-origin']);
      const origins = output
        .toString()
        .trim()
        .split('\n')
        .map((line) => line.split('\t')[0]);
      expect(new Set(origins)).toEqual(new Set([`file:${repository.folder}/config`]));
      const id = await repository.addBlob(Buffer.alloc(10_000, 'x'));
      expect((await repository.run(['cat-file', 'blob', id])).output).toHaveLength(10_000);
      await expect(
        repository.run(['cat-file', 'blob', id], { maxBytes: 5_000 }),
      ).rejects.toMatchObject({ code: 'too_large' });
      const signal = AbortSignal.abort();
      const options = { binary: String(findGit()), folder: base, environment: {}, signal };
      await expect(git(['version'], options)).rejects.toMatchObject({ code: 'cancelled' });
    } finally {
      await repository.remove();
    }
  });
});

it.each([
  ['a/b.txt', true],
  ['.gitignore', true],
  ['.github/x', true],
  ['digit/a.git', true],
  ['', false],
  ['/etc/x', false],
  ['a//b', false],
  ['a/../b', false],
  ['./a', false],
  ['a/.git', false],
  ['.GiT/x', false],
  ['.git . ./x', false],
  ['.git::$INDEX_ALLOCATION/x', false],
  ['GIT~1/x', false],
  ['.g\u200dit/x', false],
  ['a\\.git\\x', false],
  ['a\0b', false],
])('the path %j of a patch is allowed: %s', (path, allowed) => {
  expect(isSafePath(path)).toBe(allowed);
});

describe('who commits in a folder', () => {
  beforeEach(() => {
    mkdirSync(join(base, 'home'));
    mkdirSync(join(base, 'root/.git'));
  });
  const users = (text: string) => writeFileSync(join(base, 'home/.gitconfig'), text);
  const own = (text: string) => writeFileSync(join(base, 'root/.git/config'), text);
  const home = () => ({ home: join(base, 'home'), settings: join(base, 'home/.config') });
  const found = () => userIdentity(join(base, 'root'), home());

  it('is whom the user’s settings name, or those of the repository', async () => {
    expect(await found()).toBeNull();
    users('[user]\n\tname = Ada\n\temail = ada@example.org\n');
    expect(await found()).toEqual({ name: 'Ada', email: 'ada@example.org' });
    own('[user]\n\temail = lin@example.org\n[core]\n\tfsmonitor = "touch ran"\n');
    expect(await found()).toEqual({ name: 'Ada', email: 'lin@example.org' });
  });

  it('attacks: is nobody by a name that is too long or has control characters, nor by another file', async () => {
    const name = (value: string) => users(`[user]\n\tname = "${value}"\n\temail = a@b\n`);
    for (const value of ['a\\nb', 'a\u001b[2J', 'a\u009b1m', 'x'.repeat(201), 'A <b@c>']) {
      name(value);
      expect(await found()).toBeNull();
    }
    name('Ada');
    writeFileSync(join(base, 'outside/config'), '[user]\n\tname = Eve\n');
    own(`[include]\n\tpath = ${join(base, 'outside/config')}\n`);
    expect(await found()).toMatchObject({ name: 'Ada' });
    rmSync(join(base, 'root/.git/config'));
    symlinkSync(join(base, 'outside/config'), join(base, 'root/.git/config'));
    expect(await found()).toMatchObject({ name: 'Ada' });
  });
});
