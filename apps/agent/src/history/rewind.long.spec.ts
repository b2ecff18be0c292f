import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
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

let state = 11;
const below = (limit: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return (state >>> 8) % limit;
};

const names = ['a', 'b c', 'd/e', 'd/f/g', 'd/f/ü', 'h'];
const texts = ['', 'one\n', 'one\r\ntwo\n', 'no end', '\x00\x01\x02', 'x\n'.repeat(50)];

/** One change that any program might make: also files where folders were, and the other way round. */
function changeSomething(): void {
  const path = join(bench.workspace, names[below(names.length)] ?? 'a');
  switch (below(6)) {
    case 0:
      return rmSync(path, { recursive: true, force: true });
    case 1:
      return chmodSync(place(path), 0o755);
    case 2: {
      rmSync(path, { recursive: true, force: true });
      makeFolders(path);
      return symlinkSync(names[below(names.length)] ?? 'a', path);
    }
    case 3:
      return renameSync(place(path), join(bench.workspace, `moved-${below(3)}`));
    default:
      place(path);
  }
}

function place(path: string): string {
  rmSync(path, { recursive: true, force: true });
  makeFolders(path);
  writeFileSync(path, texts[below(texts.length)] ?? '', 'latin1');
  return path;
}

function makeFolders(path: string): void {
  for (const part of ['d', 'd/f']) {
    const folder = join(bench.workspace, part);
    if (!path.startsWith(`${folder}/`)) continue;
    const isFolder = treeOf(bench.workspace)[part] === undefined;
    if (!isFolder) rmSync(folder);
  }
  mkdirSync(dirname(path), { recursive: true });
}

it('comes back to any of many random states, and a patch leads to each from the start', async () => {
  place(join(bench.workspace, 'a'));
  await bench.history.begin();
  const start = join(bench.elsewhere, 'start');
  cpSync(bench.workspace, start, { recursive: true, verbatimSymlinks: true });
  const states = [{ commit: String(bench.commits()[0]?.args['commit']), tree: treeOf(start) }];
  for (let step = 0; step < 25; step++) {
    for (let change = below(4); change >= 0; change--) changeSomething();
    const before = bench.commits().length;
    await bench.history.commit({ id: `${step}`, message: `step ${step}` });
    const [commit] = bench.commits().slice(before);
    if (!commit) continue;
    states.push({ commit: String(commit.args['commit']), tree: treeOf(bench.workspace) });
  }
  expect(states.length).toBeGreaterThan(15);
  for (let round = 0; round < 20; round++) {
    const { commit, tree } = states[below(states.length)] ?? states[0]!;
    await bench.call('workspace.rewind', { commit });
    expect(treeOf(bench.workspace)).toEqual(tree);
  }
  for (const { commit, tree } of states) {
    const copy = join(bench.elsewhere, commit);
    cpSync(start, copy, { recursive: true, verbatimSymlinks: true });
    const patch = await buffer(await bench.history.export('patch', { commit }));
    execFileSync('git', ['init', '-q'], { cwd: copy });
    const apply = [
      '-c',
      'core.autocrlf=false',
      'apply',
      '--allow-empty',
      '--whitespace=nowarn',
      '-',
    ];
    execFileSync('git', apply, { cwd: copy, input: patch, stdio: 'pipe' });
    rmSync(join(copy, '.git'), { recursive: true });
    expect(treeOf(copy)).toEqual(tree);
  }
});
