/** @jest-environment node */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packTar, type TarEntry } from './pack-tar';

const entry = (path: string, text: string): TarEntry => {
  const bytes = new TextEncoder().encode(text);
  return { path, size: bytes.length, modified: 1_700_000_000_000, content: async () => bytes };
};

it('makes an archive that tar unpacks: long and non-ASCII names, empty and full blocks', async () => {
  const long = `${'deep/'.repeat(30)}file.txt`;
  const files = [
    entry('package.json', '{}'),
    entry(long, 'long'),
    entry('src/größe – ✓.txt', 'foreign'),
    entry('empty', ''),
    entry('block', 'x'.repeat(512)),
    { ...entry('run.sh', '#!/bin/sh\n'), executable: true },
  ];
  const parts: Uint8Array[] = [];
  for await (const part of packTar(files)) parts.push(part);
  const folder = mkdtempSync(join(tmpdir(), 'tar-'));
  try {
    execFileSync('tar', ['-xf', '-'], { cwd: folder, input: Buffer.concat(parts) });
    for (const file of files)
      expect(readFileSync(join(folder, file.path))).toEqual(Buffer.from(await file.content()));
    expect(statSync(join(folder, 'run.sh')).mode & 0o111).toBeTruthy();
    expect(statSync(join(folder, 'empty')).mtimeMs).toBe(1_700_000_000_000);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('computes the length of a pax record where it gains a digit', async () => {
  for (let length = 85; length < 105; length += 1) {
    const path = `${'é'.repeat(1)}${'a'.repeat(length)}`;
    const parts: Uint8Array[] = [];
    for await (const part of packTar([entry(path, 'x')])) parts.push(part);
    const listed = execFileSync('tar', ['-tf', '-', '--quoting-style=literal'], {
      input: Buffer.concat(parts),
      encoding: 'utf8',
    });
    expect(listed.trim()).toBe(path);
  }
});
