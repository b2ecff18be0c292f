import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { historyBench, type HistoryBench } from './testing/history-bench.js';

let bench: HistoryBench;
beforeEach(() => {
  bench = historyBench();
});
afterEach(() => bench.remove());

const put = (path: string, content = 'x\n') => {
  mkdirSync(join(bench.workspace, dirname(path)), { recursive: true });
  writeFileSync(join(bench.workspace, path), content);
};

describe('attacks: a workspace that hides its changes from the history', () => {
  it.each([
    ['-diff', '* -diff\n'],
    ['binary', '[attr]hide binary\n* hide\n'],
    ['export-ignore', '* export-ignore\n'],
    ['export-subst and ident', '* export-subst ident\n'],
    ['an encoding', '* working-tree-encoding=UTF-16 text eol=crlf\n'],
  ])('shows every change whatever %s in .gitattributes says', async (_, attributes) => {
    put('.gitattributes', attributes);
    put('inner/.gitattributes', attributes.replace(/^\[attr\].*\n/, '').replace('hide', 'binary'));
    put('inner/f', 'a\n');
    await bench.history.begin();
    put('inner/f', 'a\nb $Format:%H$ $Id$\n');
    await bench.history.commit({ id: '1', message: 'x' });
    const { diff, files } = await bench.call('workspace.diff', {});
    expect(files).toEqual([
      { path: 'inner/f', status: 'modified', added: 1, removed: 0, binary: false },
    ]);
    expect(diff).toContain('+b $Format:%H$ $Id$\n');
    const patch = (await buffer(await bench.history.export('patch'))).toString();
    expect(patch).toContain('+b $Format:%H$ $Id$\n');
    const tar = (await buffer(await bench.history.export('tar'))).toString();
    expect(tar).toContain('b $Format:%H$ $Id$\n');
  });

  it('records a change of the same size and times, and one below a repository that came later', async () => {
    put('f', 'one\n');
    put('sub/old', 'one\n');
    await bench.history.begin();
    const file = join(bench.workspace, 'f');
    const { atime, mtime } = statSync(file);
    const folder = statSync(bench.workspace);
    put('f', 'two\n');
    put('new');
    utimesSync(file, atime, mtime);
    utimesSync(bench.workspace, folder.atime, folder.mtime);
    execFileSync('git', ['init', '-q'], { cwd: join(bench.workspace, 'sub') });
    put('sub/old', 'two\n');
    put('sub/new');
    await bench.history.commit({ id: '1', message: 'x' });
    expect(bench.files().at(-1)).toEqual(['f', 'new', 'sub/new', 'sub/old']);
  });
});

describe('attacks: a small workspace, whose files the history looks at without git', () => {
  afterEach(() => jest.restoreAllMocks());

  it('records a change of the same size and times after nothing had changed', async () => {
    put('f', 'one\n');
    await bench.history.begin();
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    for (const id of ['1', '2']) await bench.history.commit({ id, message: 'x' });
    const file = join(bench.workspace, 'f');
    const { atime, mtime } = statSync(file);
    writeFileSync(file, 'two\n');
    utimesSync(file, atime, mtime);
    await bench.history.commit({ id: '3', message: 'x' });
    expect(bench.files()).toEqual([[], ['f']]);
  });
});
