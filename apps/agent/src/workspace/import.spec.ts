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
import { treeOf } from '../history/history-bench.js';
import { importWorkspace } from './import.js';

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
  ['a device', [[{ name: 'null', type: 'character-device' }]]],
])('refuses %s', async (_, entries) => {
  writeFileSync(join(outside, 'f'), 'f');
  await expect(importWorkspace(workspace, archive(...entries))).rejects.toMatchObject({
    code: expect.stringMatching(/forbidden|invalid_input|conflict/) as string,
  });
  expect(readdirSync(outside)).toEqual(['f']);
});

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

it('says what is wrong with a broken or cut archive', async () => {
  await expect(
    importWorkspace(workspace, Readable.from([Buffer.alloc(2000, 7)])),
  ).rejects.toMatchObject({ code: 'invalid_input' });
  const tar = archive([{ name: 'a', size: 100_000 }, 'x'.repeat(100_000)]);
  const whole = await buffer(tar);
  await expect(
    importWorkspace(workspace, Readable.from([whole.subarray(0, 50_000)])),
  ).rejects.toMatchObject({ code: 'invalid_input' });
});
