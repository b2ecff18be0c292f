import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unreadableFile, packTar, type TarFile } from './pack-tar';

const file = (path: string, text: string): TarFile => ({
  path,
  content: new Blob([text]),
  modified: 1_700_000_000_000,
});
const bytesOf = async (files: TarFile[]) => Buffer.from(await packTar(files).arrayBuffer());

it('makes an archive that tar unpacks: long and non-ASCII names, empty and full blocks', async () => {
  const long = `${'deep/'.repeat(30)}file.txt`;
  const files = [
    file('package.json', '{}'),
    file(long, 'long'),
    file('src/größe – ✓.txt', 'foreign'),
    file('empty', ''),
    file('block', 'x'.repeat(512)),
    { ...file('run.sh', '#!/bin/sh\n'), executable: true },
  ];
  const folder = mkdtempSync(join(tmpdir(), 'tar-'));
  try {
    execFileSync('tar', ['-xf', '-'], { cwd: folder, input: await bytesOf(files) });
    for (const { path, content } of files)
      expect(readFileSync(join(folder, path), 'utf8')).toBe(await content.text());
    expect(statSync(join(folder, 'run.sh')).mode & 0o111).toBeTruthy();
    expect(statSync(join(folder, 'empty')).mtimeMs).toBe(1_700_000_000_000);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('computes the length of a pax record where it gains a digit', async () => {
  for (let length = 85; length < 105; length += 1) {
    const path = `${'é'.repeat(1)}${'a'.repeat(length)}`;
    const listed = execFileSync('tar', ['-tf', '-', '--quoting-style=literal'], {
      input: await bytesOf([file(path, 'x')]),
      encoding: 'utf8',
    });
    expect(listed.trim()).toBe(path);
  }
});

it('names a file that can no longer be read', async () => {
  const files = [file('a', 'a'), file('b', 'b')];
  expect(await unreadableFile(files)).toBeUndefined();
  const lost = { arrayBuffer: () => Promise.reject(new DOMException('', 'NotReadableError')) };
  const content = Object.assign(new Blob(['c']), { slice: () => lost as unknown as Blob });
  expect(await unreadableFile([...files, { ...file('c', ''), content }])).toBe('c');
});
