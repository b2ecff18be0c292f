import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@belay/protocol';
import { itLong } from '@belay/testing';
import { filesBench, type FilesBench } from './testing/files-bench.js';

let bench: FilesBench;
let outside: string;
beforeEach(() => {
  bench = filesBench();
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'belay-outside-')));
  writeFileSync(join(outside, 'secret'), 'secret');
  mkdirSync(join(bench.root, 'in'));
  writeFileSync(join(bench.root, 'in/a'), 'inside');
});
afterEach(() => {
  bench.remove();
  rmSync(outside, { recursive: true, force: true });
  rmSync(`${bench.root}-evil`, { recursive: true, force: true });
});

/** Every operation that takes a path, aimed at one. */
const attempts = (path: string): (() => Promise<unknown>)[] => [
  () => bench.call('files.read', { path }),
  () => bench.call('files.read', { path, encoding: 'base64' }),
  () => bench.call('files.write', { path, content: 'x' }),
  () => bench.call('files.edit', { path, change: 'REPLACE', from: 1, content: ['x'] }),
  () => bench.call('files.replace-text', { path, find: 'secret', replace: 'x' }),
  () =>
    bench.call('files.patch', {
      patch: `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-secret\n\\ No newline at end of file\n+x\n`,
    }),
  () => bench.call('files.patch', { patch: `--- /dev/null\n+++ b/${path}2\n@@ -0,0 +1 @@\n+x\n` }),
  () => bench.call('files.move', { from: 'in/a', to: `${path}3` }),
  () => bench.call('files.move', { from: path, to: 'stolen' }),
  () => bench.call('files.remove', { path, recursive: true }),
  () => bench.call('files.mkdir', { path: `${path}4/x` }),
  () => bench.call('files.search', { path, pattern: 'secret' }),
  () => bench.call('files.list', { path }),
];

async function expectRefused(path: string) {
  for (const attempt of attempts(path)) {
    await expect(attempt()).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('is outside the workspace') as string,
    });
  }
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
}

describe('paths that lead out', () => {
  it('refuses .. in all its forms', async () => {
    const name = outside.slice(outside.lastIndexOf('/') + 1);
    await expectRefused(`../${name}/secret`);
    await expectRefused(`in/../../${name}/secret`);
    await expectRefused(`./in/./..//../${name}/secret`);
    await expectRefused(`${bench.root}/../${name}/secret`);
  });

  it('refuses absolute paths and siblings that begin with the same name', async () => {
    await expectRefused(`${outside}/secret`);
    mkdirSync(`${bench.root}-evil`);
    writeFileSync(`${bench.root}-evil/secret`, 'secret');
    await expectRefused(`${bench.root}-evil/secret`);
    expect(readFileSync(`${bench.root}-evil/secret`, 'utf8')).toBe('secret');
  });

  it('refuses links above the end of a path', async () => {
    symlinkSync(outside, join(bench.root, 'absolute'));
    symlinkSync(`../../${outside.split('/').at(-1)}`, join(bench.root, 'in/relative'));
    symlinkSync('in/relative', join(bench.root, 'chained'));
    await expectRefused('absolute/secret');
    await expectRefused('in/relative/secret');
    await expectRefused('chained/secret');
  });

  it('refuses links at the end of a path, dangling ones too', async () => {
    symlinkSync(join(outside, 'secret'), join(bench.root, 'link'));
    symlinkSync(join(outside, 'missing'), join(bench.root, 'dangling'));
    for (const path of ['link', 'dangling']) {
      await expect(bench.call('files.read', { path })).rejects.toMatchObject({ code: 'forbidden' });
      await expect(bench.call('files.write', { path, content: 'x' })).rejects.toMatchObject({
        code: 'forbidden',
      });
      await expect(bench.call('files.mkdir', { path })).rejects.toMatchObject({
        code: 'forbidden',
      });
    }
    await bench.call('files.move', { from: 'link', to: 'moved' });
    await bench.call('files.remove', { path: 'moved' });
    expect(readdirSync(outside)).toEqual(['secret']);
  });

  it('refuses NUL and loops', async () => {
    await expect(bench.call('files.read', { path: 'in/a\0b' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    symlinkSync('loop', join(bench.root, 'loop'));
    await expect(bench.call('files.read', { path: 'loop' })).rejects.toThrow(
      'loop contains a loop of symbolic links.',
    );
    await expect(bench.call('files.read', { path: `${'x'.repeat(300)}` })).rejects.toThrow(
      'is too long',
    );
  });
});

describe('paths that stay inside', () => {
  it('takes .., absolute paths and links that end inside', async () => {
    symlinkSync(join(bench.root, 'in'), join(bench.root, 'absolute'));
    symlinkSync('../in/a', join(bench.root, 'in/up'));
    symlinkSync('in/later', join(bench.root, 'dangling'));
    for (const path of ['in/../in/a', `${bench.root}/in/a`, 'absolute/a', 'in/up']) {
      expect(await bench.call('files.read', { path })).toMatchObject({
        content: 'inside',
        path: 'in/a',
      });
    }
    await bench.call('files.write', { path: 'dangling', content: 'now' });
    expect(readFileSync(join(bench.root, 'in/later'), 'utf8')).toBe('now');
    await bench.call('files.move', { from: 'absolute', to: 'renamed' });
    expect(existsSync(join(bench.root, 'in/a'))).toBe(true);
  });

  it('takes odd names as they are', async () => {
    const path = 'in/ spaced "näme" \\ *?[x] -rf\n';
    await bench.call('files.write', { path, content: 'odd' });
    expect(readFileSync(join(bench.root, path), 'utf8')).toBe('odd');
    expect(await bench.call('files.read', { path })).toMatchObject({ content: 'odd', path });
  });
});

describe('special files', () => {
  it('refuses a pipe, a socket and a device without waiting', async () => {
    execFileSync('mkfifo', [join(bench.root, 'pipe')]);
    const server = createServer().listen(join(bench.root, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    for (const [path, kind] of [
      ['pipe', 'a pipe'],
      ['socket', 'a socket'],
    ]) {
      await expect(bench.call('files.read', { path })).rejects.toThrow(
        `${path} is ${kind}, not a file.`,
      );
      await expect(bench.call('files.write', { path, content: 'x' })).rejects.toThrow(
        `${path} is ${kind}`,
      );
      await expect(
        bench.call('files.patch', { patch: `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n` }),
      ).rejects.toThrow(`${path} is ${kind}`);
    }
    const { entries } = await bench.call('files.list', {});
    expect(entries.filter((entry) => entry.kind === 'other').map((entry) => entry.path)).toEqual([
      'pipe',
      'socket',
    ]);
    expect((await bench.call('files.search', { pattern: '.' })).matches).toHaveLength(1);
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('races', () => {
  itLong('never follows a link that is swapped in meanwhile', async () => {
    mkdirSync(join(outside, 'deep'));
    writeFileSync(join(outside, 'deep/a'), 'secret');
    const swapper = spawn(process.execPath, ['-e', swapping, bench.root, join(outside, 'deep')]);
    await new Promise((resolve) => swapper.stdout.once('data', resolve));
    const seen = new Set<string>();
    let swapped = 0;
    try {
      const deadline = Date.now() + 100_000;
      const enough = () => swapped > 5 && seen.has('inside');
      for (let round = 0; round < 300 || (!enough() && Date.now() < deadline); round++) {
        const outcomes = await Promise.allSettled<unknown>([
          bench.call('files.read', { path: 'swap/a' }).then(({ content }) => seen.add(content)),
          bench.call('files.write', { path: 'swap/a', content: 'inside' }),
          bench.call('files.write', { path: `swap/new${round % 3}`, content: 'x' }),
          bench.call('files.remove', { path: `swap/new${round % 3}`, recursive: true }),
          bench
            .call('files.list', { path: 'swap' })
            .then(({ entries }) => entries.forEach(({ path }) => seen.add(path.slice(0, 5)))),
        ]);
        for (const outcome of outcomes) {
          if (outcome.status === 'fulfilled') continue;
          expect(outcome.reason).toBeInstanceOf(AppError);
          if ((outcome.reason as AppError).code === 'forbidden') swapped++;
        }
      }
    } finally {
      swapper.kill('SIGKILL');
      await new Promise((resolve) => swapper.once('exit', resolve));
    }
    expect(swapped).toBeGreaterThan(0);
    expect(seen).toContain('inside');
    expect(seen).not.toContain('secret');
    expect(readdirSync(join(outside, 'deep'))).toEqual(['a']);
    expect(readFileSync(join(outside, 'deep/a'), 'utf8')).toBe('secret');
  });
});

/**
 * Turns `swap` from a folder into a link that leads out and back while its parent lives: once as fast as it can, once
 * with a rest at each of them that grows with the time, until even a busy machine finds both.
 */
const swapping = `
  const { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
  const [root, outside] = process.argv.slice(1);
  const attempt = (change) => { try { change(); } catch {} };
  const still = new Int32Array(new SharedArrayBuffer(4));
  const rest = (ms) => { if (ms > 0) Atomics.wait(still, 0, 0, ms); };
  const swap = root + '/swap';
  const parent = process.ppid;
  process.stdout.write('ready');
  const begun = Date.now();
  for (let round = 0; process.ppid === parent; round++) {
    const ms = (round % 2) * ((Date.now() - begun) / 50);
    attempt(() => mkdirSync(swap));
    attempt(() => writeFileSync(swap + '/a', 'inside', { flag: 'wx' }));
    rest(ms);
    attempt(() => renameSync(swap, root + '/aside'));
    attempt(() => symlinkSync(outside, swap));
    rest(ms);
    attempt(() => renameSync(swap, root + '/aside-link'));
    for (const name of ['/aside', '/aside-link']) attempt(() => rmSync(root + name, { recursive: true }));
  }
`;
