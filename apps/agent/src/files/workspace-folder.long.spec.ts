import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@belay/protocol';
import { filesBench, type FilesBench } from './testing/files-bench.js';

let bench: FilesBench;
let outside: string;
beforeEach(() => {
  bench = filesBench();
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'belay-outside-')));
});
afterEach(() => {
  bench.remove();
  rmSync(outside, { recursive: true, force: true });
});

describe('races', () => {
  it('never follows a link that is swapped in meanwhile', async () => {
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

/** Turns `swap` from a folder into a link that leads out and back, as fast as it can, while its parent lives. */
const swapping = `
  const { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
  const [root, outside] = process.argv.slice(1);
  const attempt = (change) => { try { change(); } catch {} };
  const swap = root + '/swap';
  const parent = process.ppid;
  process.stdout.write('ready');
  while (process.ppid === parent) {
    attempt(() => mkdirSync(swap));
    attempt(() => writeFileSync(swap + '/a', 'inside', { flag: 'wx' }));
    attempt(() => renameSync(swap, root + '/aside'));
    attempt(() => symlinkSync(outside, swap));
    attempt(() => renameSync(swap, root + '/aside-link'));
    attempt(() => rmSync(root + '/aside', { recursive: true }));
    attempt(() => rmSync(root + '/aside-link'));
  }
`;
