import { Readable } from 'node:stream';
import { pack, type Headers } from 'tar-stream';
import { merge, noArtifacts } from './artifacts.js';
import { readArchive, fileEntry, folderEntry, type Entry } from './entries.js';
import { ReadBudget } from './read-budget.js';
import { Refused } from './refused.js';
import { filterArtifacts } from './artifact-filter.js';

const link = (path: string, target: string): Entry => ({
  ...fileEntry(path, ''),
  kind: 'link',
  target,
});
const pathsOf = (entries: Entry[]) => entries.map(({ path }) => path);
const honest = [
  folderEntry('/app'),
  fileEntry('/app/answer.py', '1'),
  folderEntry('/app/d'),
  fileEntry('/app/d/x', ''),
];

async function archiveOf(...headers: Headers[]): Promise<Buffer> {
  const archive = pack();
  for (const header of headers) archive.entry(header, header.type === 'file' ? 'text' : '');
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe('attacks: files that affect test results are not collected', () => {
  it.each([
    fileEntry('/pyproject.toml', '[project]\nname = "harmless"\n'),
    fileEntry('/app/pyproject.toml', '[tool.pytest.ini_options]\naddopts = "-p evil"\n'),
    fileEntry('/app/pyproject.toml', '[tool]\npytest.ini_options.addopts = "-p evil"\n'),
    fileEntry('/app/pyproject.toml', '[tool."pytest".ini_options]\naddopts = "-p evil"\n'),
    fileEntry('/app/pyproject.toml', '[tool.pytest\n'),
    link('/app/pyproject.toml', 'other.toml'),
    fileEntry('/app/package.json', '{"jest":{"testMatch":[]}}'),
    fileEntry('/app/jasmine.json', '{}'),
    fileEntry('/app/.mocharc.yml', ''),
    fileEntry('/app/node_modules/jest/index.js', ''),
    fileEntry('/app/node_modules/.bin/mocha', ''),
    fileEntry('/app/.git', 'gitdir: /app/evil.git\n'),
    link('/app/.git', 'evil.git'),
    fileEntry('/app/.git/worktrees/a/config.worktree', '[core]\nfsmonitor = evil\n'),
    fileEntry('/app/.git/modules/a/hooks/post-checkout', ''),
    fileEntry('/verify-0/report.xml', ''),
    link('/root', '/app/home'),
    link('/home', '/app/home'),
    link('/home/agent', '/app/home'),
    link('/var', '/app/var'),
    link('/app/evil-1.0.dist-info', 'metadata'),
    fileEntry('/app/../tests/test_a.py', ''),
    fileEntry('/app/../../home/user/x', ''),
    fileEntry('app/answer.py', ''),
  ])('$kind $path', (entry) => {
    // Positive control: all other files are collected unchanged.
    expect(filterArtifacts([...honest, entry])).toEqual(honest);
  });

  it('a project file without settings of a test runner is collected', () => {
    const work = [
      fileEntry(
        '/app/pyproject.toml',
        '[project]\nname = "mine"\n[tool.black]\nline-length = 90\n',
      ),
      fileEntry('/app/package.json', '{"name":"mine","scripts":{"test":"jest"}}'),
      fileEntry('/app/node_modules/left-pad/index.js', ''),
      fileEntry('/app/.git/HEAD', 'ref: refs/heads/main\n'),
    ];
    expect(filterArtifacts(work)).toEqual(work);
  });

  it('nothing is unpacked through a link or over a file', () => {
    const through = [
      link('/app/out', '/tests'),
      fileEntry('/app/out/test_a.py', ''),
      fileEntry('/app/out/deep/er', ''),
      fileEntry('/app/plain', ''),
      fileEntry('/app/plain/below', ''),
    ];
    expect(pathsOf(filterArtifacts([...honest, ...through]))).toEqual([
      ...pathsOf(honest),
      '/app/out',
      '/app/plain',
    ]);
  });

  it('files of a folder that a later step replaces with a link are dropped', () => {
    const first = {
      ...noArtifacts,
      entries: [folderEntry('/app/d'), fileEntry('/app/d/test_a.py', 'forged')],
    };
    const second = { ...noArtifacts, entries: [link('/app/d', '/tests')] };
    expect(pathsOf(merge(first, second).entries)).toEqual(['/app/d']);
    const kept = { ...noArtifacts, entries: [folderEntry('/app/d'), fileEntry('/app/d/y', '')] };
    expect(pathsOf(merge(first, kept).entries)).toEqual(['/app/d', '/app/d/test_a.py', '/app/d/y']);
  });
});

describe('attacks: archives of a container', () => {
  it.each(['../../evil', '/etc/evil', 'a/../../evil', '..'])('%s is refused', async (name) => {
    const hostile = await archiveOf(
      { name: 'a', type: 'file', size: 4 },
      { name, type: 'symlink' },
    );
    await expect(readArchive(hostile, '/app')).rejects.toThrow(Refused);
    const hardLink = { name: 'b', type: 'link' as const, linkname: '../../evil' };
    await expect(readArchive(await archiveOf(hardLink), '/app')).rejects.toThrow(Refused);
    const control = await archiveOf({ name: './a/../b', type: 'file', size: 4 });
    expect(pathsOf(await readArchive(control, '/app'))).toEqual(['/app/b']);
  });

  it('a sparse file counts by the bytes that are read, up to the limit', async () => {
    const size = 2 ** 40;
    const archive = await archiveOf({ name: 'disk', type: 'file', size: 4 });
    const announced = archive.subarray(0, 512);
    // Large sizes are encoded in base 256 (GNU tar).
    announced.fill(0, 124, 136);
    announced[124] = 0x80;
    announced.writeUInt32BE(Math.floor(size / 2 ** 32), 128);
    let sum = 0;
    announced.fill(0x20, 148, 156);
    for (const byte of announced) sum += byte;
    announced.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    let read = 0;
    const zeros = Buffer.alloc(2 ** 16);
    const endless = Readable.from(
      (function* () {
        yield announced;
        for (;;) {
          read += zeros.length;
          yield zeros;
        }
      })(),
    );
    const budget = () => new ReadBudget({ bytes: 2 ** 20 });
    await expect(readArchive(endless, '/app', budget())).rejects.toThrow(
      /The agent left more than 1 MiB/,
    );
    expect(read).toBeLessThan(2 ** 22);
    expect(endless.destroyed).toBe(true);
    const control = await archiveOf({ name: 'a', type: 'file', size: 4 });
    expect(await readArchive(control, '/app', budget())).toHaveLength(1);
  });

  it('files beyond the limit are refused, whatever their size', async () => {
    const many = await archiveOf(
      ...[1, 2, 3].map((n) => ({ name: `d${n}`, type: 'directory' as const })),
    );
    await expect(readArchive(many, '/', new ReadBudget({ entries: 2 }))).rejects.toThrow(Refused);
    expect(await readArchive(many, '/', new ReadBudget({ entries: 3 }))).toHaveLength(3);
  });
});
