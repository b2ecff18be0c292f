import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { historyBench, treeOf, type HistoryBench } from './testing/history-bench.js';

let bench: HistoryBench;
beforeEach(() => {
  bench = historyBench();
});
afterEach(() => bench.remove());

const put = (path: string, bytes: string) => {
  mkdirSync(join(bench.workspace, dirname(path)), { recursive: true });
  writeFileSync(join(bench.workspace, path), bytes, 'latin1');
};
const run = (command: string, args: string[], input?: Buffer) =>
  execFileSync(command, args, { cwd: bench.elsewhere, input, stdio: ['pipe', 'pipe', 'pipe'] });
const exported = async (format: 'patch' | 'zip' | 'bundle' | 'tar', commit?: string) =>
  buffer(await bench.history.export(format, { commit }));

/** Line ends of both kinds, binaries, modes, links, renames, odd names, files that come and go. */
function changeMuch() {
  put('crlf', 'a\r\nB\r\nc\n');
  put('open end', 'no end here');
  put('binary', '\x00\x01\xff'.repeat(500));
  chmodSync(join(bench.workspace, 'tool'), 0o755);
  unlinkSync(join(bench.workspace, 'gone'));
  unlinkSync(join(bench.workspace, 'link'));
  symlinkSync('binary', join(bench.workspace, 'link'));
  unlinkSync(join(bench.workspace, 'moved'));
  put('dir/möved "x"', 'a\nb\nc\nd\ne\n'.repeat(9));
  put('empty', '');
}

async function begin() {
  put('crlf', 'a\r\nb\r\nc\n');
  put('open end', 'no end');
  put('binary', '\x00\x01\x02'.repeat(500));
  put('tool', '#!/bin/sh\n');
  put('gone', 'x\n');
  put('moved', 'a\nb\nc\nd\ne\n'.repeat(9));
  put('.gitattributes', '* text=auto\n');
  symlinkSync('tool', join(bench.workspace, 'link'));
  await bench.history.begin();
}

describe('patch', () => {
  it('brings a copy of the start to the state now by git apply', async () => {
    await begin();
    cpSync(bench.workspace, bench.elsewhere, { recursive: true, verbatimSymlinks: true });
    changeMuch();
    run('git', ['init', '-q']);
    run('git', ['apply', '--whitespace=nowarn', '-'], await exported('patch'));
    rmSync(join(bench.elsewhere, '.git'), { recursive: true });
    expect(treeOf(bench.elsewhere)).toEqual(treeOf(bench.workspace));
  });

  it('is empty when nothing changed, and ends at a given commit', async () => {
    await begin();
    expect(await exported('patch')).toHaveLength(0);
    put('crlf', 'one\n');
    await bench.history.commit({ id: '1', message: 'x' });
    const commit = String(bench.commits().at(-1)?.args['commit']);
    put('crlf', 'two\n');
    expect((await exported('patch', commit)).toString()).toContain('+one');
    expect((await exported('patch')).toString()).toContain('+two');
    await expect(exported('patch', 'abcdef1')).rejects.toMatchObject({ code: 'not_found' });
  });
});

it('exports the files as tar and zip', async () => {
  await begin();
  const start = String(bench.commits()[0]?.args['commit']);
  const before = treeOf(bench.workspace);
  changeMuch();
  run('tar', ['-x'], await exported('tar', start));
  expect(treeOf(bench.elsewhere)).toEqual(before);
  writeFileSync(join(bench.elsewhere, 'now.zip'), await exported('zip'));
  run('python3', ['-c', 'import zipfile; zipfile.ZipFile("now.zip").extractall("now")']);
  const unzipped = treeOf(join(bench.elsewhere, 'now'));
  expect(unzipped['crlf']).toBe('a\r\nB\r\nc\n');
  expect(Object.keys(unzipped).sort()).toEqual(Object.keys(treeOf(bench.workspace)).sort());
});

it('adds the own repository of the workspace to a tar', async () => {
  execFileSync('git', ['init', '-q'], { cwd: bench.workspace });
  await begin();
  execFileSync('git', ['add', '.'], { cwd: bench.workspace, stdio: 'pipe' });
  put('.git/large', 'x'.repeat(1_000_000));
  put('.git/empty', '');
  run('tar', ['-x'], await exported('tar'));
  expect(treeOf(bench.elsewhere)).toEqual(treeOf(bench.workspace));
  expect(run('git', ['ls-files']).toString()).toContain('crlf');
  const left = await bench.history.export('tar');
  left.destroy();
});

it('exports what a step changed as a patch of its own', async () => {
  await begin();
  put('first', 'one\n');
  await bench.history.commit({ id: 'call-1', message: 'First' });
  const from = String(bench.commits().at(-1)?.args['commit']);
  put('second', 'two\n');
  await bench.history.commit({ id: 'call-2', message: 'Second' });
  const patch = (await buffer(await bench.history.export('patch', { from }))).toString();
  expect(patch).toContain('b/second');
  expect(patch).not.toContain('b/first');
});

it('exports the history as a bundle that git clones, more than once and at once', async () => {
  await begin();
  changeMuch();
  await bench.history.commit({ id: 'call-1', message: 'Change much' });
  const [bundle] = await Promise.all([exported('bundle'), exported('bundle')]);
  writeFileSync(join(bench.elsewhere, 'history.bundle'), bundle ?? '');
  run('git', ['-c', 'core.autocrlf=false', 'clone', '-q', 'history.bundle', 'clone']);
  const log = run('git', ['-C', 'clone', 'log', '--format=%s']).toString();
  expect(log).toBe('Change much\nThe workspace at the start\n');
  const clone = join(bench.elsewhere, 'clone');
  rmSync(join(clone, '.git'), { recursive: true });
  expect(Object.keys(treeOf(clone))).toEqual(Object.keys(treeOf(bench.workspace)));
});
