import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  linkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pack, type Headers } from 'tar-stream';
import { treeOf } from '../history/testing/history-bench.js';
import { importWorkspace } from './import-workspace.js';

let folder: string;
let workspace: string;
let outside: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belay-import-'));
  workspace = join(folder, 'workspace');
  outside = join(folder, 'workspace-evil');
  mkdirSync(workspace);
  mkdirSync(outside);
});
afterEach(() => {
  execFileSync('chmod', ['-R', 'u+rwx', folder]);
  rmSync(folder, { recursive: true });
});

const archive = (...entries: [Headers, string?][]) => {
  const tar = pack();
  for (const [header, text] of entries) tar.entry(header, text ?? '');
  tar.finalize();
  return tar;
};

it('unpacks what tar packs: bytes, modes, times, links, odd names, .git', async () => {
  const source = join(folder, 'source');
  mkdirSync(join(source, 'read only/.git'), { recursive: true });
  mkdirSync(join(source, 'empty'));
  writeFileSync(join(source, 'read only/.git/HEAD'), 'ref\r\n');
  writeFileSync(join(source, `long ${'n'.repeat(150)} é\n`), Buffer.alloc(300_000, 1));
  writeFileSync(join(source, 'run.sh'), '#!/bin/sh\n');
  chmodSync(join(source, 'run.sh'), 0o750);
  linkSync(join(source, 'run.sh'), join(source, 'same.sh'));
  symlinkSync('../nowhere', join(source, 'dangling'));
  symlinkSync('/etc', join(source, 'etc'));
  chmodSync(join(source, 'read only'), 0o555);
  execFileSync('touch', ['-d', '2020-01-02T03:04:05Z', join(source, 'run.sh')]);
  const tar = execFileSync('tar', ['-c', '-C', source, '.'], { maxBuffer: 1e8 });
  await importWorkspace(workspace, Readable.from([tar.subarray(0, 700), tar.subarray(700)]));
  expect(treeOf(workspace)).toEqual(treeOf(source));
  expect(readdirSync(workspace)).toContain('empty');
  expect(statSync(join(workspace, 'read only')).mode & 0o777).toBe(0o555);
  expect(statSync(join(workspace, 'run.sh')).mode & 0o777).toBe(0o750);
  expect(statSync(join(workspace, 'run.sh')).mtime.toISOString()).toBe('2020-01-02T03:04:05.000Z');
  expect(statSync(join(workspace, 'run.sh')).nlink).toBe(2);
  expect(readlinkSync(join(workspace, 'etc'))).toBe('/etc');
});

it.each<[string, [Headers, string?][]]>([
  ['..', [[{ name: '../workspace-evil/x' }, 'x']]],
  ['.. further down', [[{ name: 'a/../../workspace-evil/x' }, 'x']]],
  ['an absolute path', [[{ name: '/etc/belay-evil' }, 'x']]],
  [
    'a link above',
    [[{ name: 'l', type: 'symlink', linkname: '../workspace-evil' }], [{ name: 'l/x' }, 'x']],
  ],
  [
    'a link inside',
    [
      [{ name: 'd/y' }, 'y'],
      [{ name: 'l', type: 'symlink', linkname: 'd' }],
      [{ name: 'l/x' }, 'x'],
    ],
  ],
  [
    'a folder over a link',
    [
      [{ name: 'l', type: 'symlink', linkname: '../workspace-evil' }],
      [{ name: 'l', type: 'directory' }],
      [{ name: 'l/x' }, 'x'],
    ],
  ],
  ['a hard link to outside', [[{ name: 'h', type: 'link', linkname: '../workspace-evil/f' }]]],
  ['a hard link to an absolute path', [[{ name: 'h', type: 'link', linkname: '/etc/passwd' }]]],
  [
    'a hard link through a link',
    [
      [{ name: 'l', type: 'symlink', linkname: '../workspace-evil' }],
      [{ name: 'h', type: 'link', linkname: 'l/f' }],
    ],
  ],
  ['a device', [[{ name: 'null', type: 'character-device' }]]],
  ['a pipe', [[{ name: 'pipe', type: 'fifo' }]]],
  ['a name that is too long', [[{ name: 'n'.repeat(5_000) }, 'x']]],
])('refuses %s', async (_, entries) => {
  writeFileSync(join(outside, 'f'), 'f');
  await expect(importWorkspace(workspace, archive(...entries))).rejects.toMatchObject({
    code: expect.stringMatching(/forbidden|invalid_input|conflict/) as string,
  });
  expect(readdirSync(outside)).toEqual(['f']);
});

it('refuses a hard link to a link as a way out', async () => {
  const entries: [Headers, string?][] = [
    [{ name: 'l', type: 'symlink', linkname: '../workspace-evil' }],
    [{ name: 'h', type: 'link', linkname: 'l' }],
    [{ name: 'h/x' }, 'x'],
  ];
  await expect(importWorkspace(workspace, archive(...entries))).rejects.toMatchObject({
    code: 'forbidden',
  });
  expect(readdirSync(outside)).toEqual([]);
});

it.each<[string, (header: Buffer) => void]>([
  ['a sparse file', (header) => header.write('S', 156)],
  ['a volume of several', (header) => header.write('M', 156)],
  ['a size that is not a number', (header) => header.write('zzzzzzzzzzz', 124)],
  ['a size of two to the 95th', (header) => header.fill(255, 125, 136).writeUInt8(128, 124)],
  ['a negative size', (header) => header.fill(255, 124, 136)],
])('refuses %s', async (_, damage) => {
  const bytes = await buffer(archive([{ name: 'f' }, 'x']));
  damage(bytes);
  sign(bytes);
  await expect(importWorkspace(workspace, Readable.from([bytes]))).rejects.toMatchObject({
    code: 'invalid_input',
  });
  expect(readdirSync(workspace)).toEqual([]);
});

/** Writes the checksum of the first header anew. */
function sign(bytes: Buffer): void {
  bytes.fill(' ', 148, 156);
  const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
}

it('takes names and links of any length and bytes, in both forms, in pieces of any size', async () => {
  const source = join(folder, 'source');
  const long = `${'d'.repeat(200)}/${'e'.repeat(200)}`;
  mkdirSync(join(source, long), { recursive: true });
  writeFileSync(join(source, long, 'f'.repeat(250)), 'long');
  writeFileSync(Buffer.from(`${source}/\xff\xfe`, 'latin1'), 'no UTF-8');
  symlinkSync(`${'t'.repeat(300)}/é`, join(source, 'link'));
  for (const format of ['gnu', 'posix', 'pax']) {
    const tar = execFileSync('tar', ['-c', `--format=${format}`, '-C', source, '.']);
    const target = join(folder, format);
    mkdirSync(target);
    await importWorkspace(target, Readable.from(pieces(tar, 333)));
    expect(readdirSync(target, 'latin1').toSorted()).toEqual(
      readdirSync(source, 'latin1').toSorted(),
    );
    expect(treeOf(join(target, 'd'.repeat(200)))).toEqual(treeOf(join(source, 'd'.repeat(200))));
    expect(readlinkSync(join(target, 'link'))).toBe(`${'t'.repeat(300)}/é`);
  }
});

const pieces = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );

it('replaces a link by a file rather than write through it', async () => {
  writeFileSync(join(outside, 'f'), 'f');
  await importWorkspace(
    workspace,
    archive(
      [{ name: 'l', type: 'symlink', linkname: '../workspace-evil/f' }],
      [{ name: 'l' }, 'new'],
    ),
  );
  expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('f');
  expect(readFileSync(join(workspace, 'l'), 'utf8')).toBe('new');
});

it('takes the last of two entries with one name, of whatever kinds', async () => {
  await importWorkspace(
    workspace,
    archive(
      [{ name: 'a' }, 'first'],
      [{ name: './a' }, 'second'],
      [{ name: 'l', type: 'symlink', linkname: '../workspace-evil' }],
      [{ name: 'l' }, 'file'],
    ),
  );
  expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('second');
  expect(readFileSync(join(workspace, 'l'), 'utf8')).toBe('file');
  expect(readdirSync(outside)).toEqual([]);
});

it('says why tar ended, also while the archive is still coming', async () => {
  const begun = pack();
  // As much as tar reads at once, so that nothing waits to be written to a pipe that breaks.
  const record = 512 * 512;
  begun.entry({ name: 'large', size: 2 * record }).write(Buffer.alloc(record - 512));
  const unpacked = importWorkspace(join(folder, 'missing'), begun);
  await expect(unpacked).rejects.toMatchObject({
    message: expect.stringContaining('missing: Cannot open: No such file') as string,
  });
});

it('reports what is wrong with a broken or cut archive', async () => {
  await expect(
    importWorkspace(workspace, Readable.from([Buffer.alloc(2000, 7)])),
  ).rejects.toMatchObject({ code: 'invalid_input' });
  const tar = archive([{ name: 'a', size: 100_000 }, 'x'.repeat(100_000)]);
  const whole = await buffer(tar);
  await expect(
    importWorkspace(workspace, Readable.from([whole.subarray(0, 50_000)])),
  ).rejects.toMatchObject({ code: 'invalid_input' });
});
