import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { historyBench, type HistoryBench } from './testing/history-bench.js';

let bench: HistoryBench;
beforeEach(() => (bench = historyBench()));
afterEach(() => bench.remove());

const put = (path: string, content: string) => writeFileSync(join(bench.workspace, path), content);
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
    cwd: bench.workspace,
    stdio: 'pipe',
  });
const noted = () =>
  bench.commits().flatMap(({ args }) => (args['commits'] ? [args['commits']] : []));

describe('commits of the workspace’s own repository', () => {
  beforeEach(async () => {
    git('init', '-q', '-b', 'main');
    put('.gitignore', 'dist\n');
    git('add', '.');
    git('commit', '-qm', 'Theirs');
    await bench.history.begin();
  });

  it('are said once, and their files are in the patch although they are ignored', async () => {
    mkdirSync(join(bench.workspace, 'dist'));
    put('dist/out.js', 'built\n');
    put('dist/left.js', 'not committed\n');
    git('add', '-f', 'dist/out.js');
    git('commit', '-qm', 'Build it');
    await bench.history.commit({ id: 'call-1', message: 'git commit' });
    await bench.history.commit({ id: 'call-2', message: 'nothing' });
    expect(noted()).toEqual([[{ commit: expect.any(String), subject: 'Build it' }]]);
    expect(bench.commits().at(-1)?.message).toMatch(/1 new commit, the latest \w{7} “Build it”/);
    const patch = await text(await bench.history.export('patch'));
    expect(patch).toContain('b/dist/out.js');
    expect(patch).not.toContain('left.js');
  });

  it('are said on another branch, too; none is said of what only looks different', async () => {
    git('checkout', '-qb', 'other');
    await bench.history.commit({ id: 'call-1', message: 'git checkout' });
    expect(noted()).toEqual([]);
    put('new.txt', 'x\n');
    git('add', '.');
    git('commit', '-qm', 'Elsewhere');
    git('checkout', '-q', 'main');
    await bench.history.commit({ id: 'call-2', message: 'git commit' });
    expect(noted()).toMatchObject([[{ subject: 'Elsewhere' }]]);
  });

  it('attacks: a repository that never answers delays the history and no more', async () => {
    const impatient = bench.another({ ownTimeoutMs: 1_000 });
    await impatient.begin();
    rmSync(join(bench.workspace, '.git/HEAD'));
    execFileSync('mkfifo', [join(bench.workspace, '.git/HEAD')]);
    put('a.txt', 'x\n');
    await impatient.commit({ id: 'call-1', message: 'mkfifo' });
    expect(bench.commits().at(-1)).toMatchObject({ id: 'call-1' });
  });
});
