import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { historyBench, treeOf, type HistoryBench } from './testing/history-bench.js';

let bench: HistoryBench;
beforeEach(() => {
  bench = historyBench();
});
afterEach(() => bench.remove());

const put = (path: string, content: string) => {
  mkdirSync(join(bench.workspace, dirname(path)), { recursive: true });
  writeFileSync(join(bench.workspace, path), content);
};

describe('attacks: a repository in the workspace', () => {
  const own = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: bench.workspace,
      encoding: 'utf8',
    }).trim();
  const many = Array.from({ length: 300 }, (_, at) => `d${at % 7}/f${at}`);

  const repository = () => {
    own('init', '-q');
    for (const path of many) put(path, `first ${path}\n`);
    own('add', '.');
    own('commit', '-qm', 'first');
    own('repack', '-adq');
  };
  const notRestored = async () => {
    const [start] = bench.commits();
    await bench.call('workspace.rewind', { commit: start?.args['commit'] });
    const tree = treeOf(bench.workspace);
    return many.filter((path) => !tree[path]?.startsWith('first '));
  };

  it('may be collected, emptied and deleted: the history goes on, and goes back to the start', async () => {
    repository();
    await bench.history.begin();
    for (const path of many.slice(0, 250)) put(path, 'second\n');
    own('commit', '-qam', 'second');
    own('reflog', 'expire', '--expire=now', '--all');
    own('gc', '-q', '--prune=now');
    await bench.history.commit({ id: '1', message: 'x' });
    rmSync(join(bench.workspace, '.git'), { recursive: true });
    put('d0/f0', 'third\n');
    await bench.history.commit({ id: '2', message: 'y' });
    expect(bench.files().map(({ length }) => length)).toEqual([0, 250, 1]);
    expect(await notRestored()).toEqual([]);
  });

  it('whose objects and index lie about the files does not change what is recorded', async () => {
    repository();
    // Its objects say of every file that it was something else, under the name of what it is.
    const objects = join(bench.workspace, '.git/objects');
    rmSync(join(objects, 'pack'), { recursive: true });
    for (const id of own('hash-object', ...many).split('\n')) {
      mkdirSync(join(objects, id.slice(0, 2)), { recursive: true });
      writeFileSync(join(objects, id.slice(0, 2), id.slice(2)), deflateSync('blob 5\0lies\n'));
    }
    await bench.history.begin();
    for (const path of many) put(path, 'lies\n');
    await bench.history.commit({ id: '1', message: 'x' });
    const { files } = await bench.call('workspace.diff', {});
    expect(files).toHaveLength(300);
    expect(files.every(({ added, removed }) => added === 1 && removed === 1)).toBe(true);
    expect(await notRestored()).toEqual([]);
  });
});
