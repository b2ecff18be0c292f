import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashOf } from './image-specs.mjs';
import { withLock } from './lock.mjs';
import { tar } from './tar.mjs';

describe('the hash of an image', () => {
  const files = [
    { path: 'Dockerfile', content: 'FROM scratch\n' },
    { path: 'a', content: Buffer.from('x') },
  ];

  it('is the same for the same content in any order', () => {
    expect(hashOf({ files: files.toReversed() })).toBe(hashOf({ files }));
    expect(hashOf({ files })).toMatch(/^[0-9a-f]{12}$/);
  });

  it('changes with a file’s content, its name, and a version', () => {
    const other = [
      { files: [files[0], { path: 'a', content: 'y' }] },
      { files: [files[0], { path: 'b', content: 'x' }] },
      { files, versions: ['node@25'] },
    ];
    expect(new Set([{ files }, ...other].map(hashOf)).size).toBe(4);
  });

  it('does not confuse where one file ends and the next begins', () => {
    const one = hashOf({ files: [{ path: 'a', content: 'bc' }] });
    const two = hashOf({ files: [{ path: 'ab', content: 'c' }] });
    expect(one).not.toBe(two);
  });
});

describe('a build’s archive', () => {
  it('unpacks with tar: contents, modes, long names', () => {
    const folder = mkdtempSync(join(tmpdir(), 'belay-tar-'));
    try {
      const long = `${'deep/'.repeat(25)}${'f'.repeat(60)}.txt`;
      writeFileSync(join(folder, 'tool'), '#!/bin/sh\n', { mode: 0o755 });
      const entries = [
        { path: 'one.txt', content: 'naïve\n' },
        { path: long, content: 'long' },
        { path: 'bin/tool', from: join(folder, 'tool') },
      ];
      const out = mkdtempSync(join(folder, 'out-'));
      const archive = Buffer.concat([...tar(entries)]);
      const run = spawnSync('tar', ['-xf', '-', '-C', out], { input: archive });
      expect(run.stderr.toString()).toBe('');
      expect(statSync(join(out, 'one.txt')).size).toBe(7);
      expect(statSync(join(out, long)).size).toBe(4);
      expect(statSync(join(out, 'bin/tool')).mode & 0o777).toBe(0o755);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('a lock between commands', () => {
  let folder;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'belay-lock-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('lets one run at a time', async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      // Gives the others time to enter.
      for (let turn = 0; turn < 20; turn += 1) await new Promise((next) => setImmediate(next));
      inside--;
    };
    await Promise.all([1, 2, 3].map(() => withLock('x', work, { folder })));
    expect(most).toBe(1);
  });

  it('is taken over from a holder that died', async () => {
    const dead = spawnSync(process.execPath, ['-e', '0']).pid;
    writeFileSync(join(folder, `belay-${process.getuid()}-x.lock`), String(dead));
    await expect(withLock('x', async () => 'done', { folder })).resolves.toBe('done');
  });

  it('is released after a failure', async () => {
    const fails = async () => {
      throw new Error('no');
    };
    await expect(withLock('x', fails, { folder })).rejects.toThrow('no');
    await expect(withLock('x', async () => 'done', { folder })).resolves.toBe('done');
  });
});
