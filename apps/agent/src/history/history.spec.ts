import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { itLong, sampled } from '@belay/testing';
import { createHistory } from './history.js';
import { historyBench, treeOf, type HistoryBench } from './testing/history-bench.js';

let bench: HistoryBench;
beforeEach(() => {
  bench = historyBench();
});
afterEach(() => bench.remove());

const put = (path: string, content: string | Uint8Array = 'x\n') => {
  mkdirSync(join(bench.workspace, dirname(path)), { recursive: true });
  writeFileSync(join(bench.workspace, path), content);
};
const git = (...args: string[]) =>
  execFileSync(
    'git',
    ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'core.autocrlf=true', ...args],
    { cwd: bench.workspace, encoding: 'utf8', stdio: 'pipe' },
  );

describe('recording', () => {
  it('begins in an empty workspace with a commit that git takes for its own', async () => {
    const begun = Math.floor(Date.now() / 1000);
    await bench.history.prepare();
    await bench.history.begin();
    const inHistory = (...args: string[]) =>
      git('--git-dir', join(bench.state, 'history.git'), ...args).trim();
    inHistory('fsck', '--strict', '--full');
    const [base] = bench.commits();
    for (const ref of ['refs/heads/main', 'refs/belay/base'])
      expect(inHistory('rev-parse', ref)).toBe(base?.args['commit']);
    expect(inHistory('log', '--format=%an <%ae>|%cn <%ce>|%B')).toBe(
      'Belay <belay@localhost>|Belay <belay@localhost>|The workspace at the start',
    );
    expect(Number(inHistory('log', '--format=%ct'))).toBeGreaterThanOrEqual(begun);
    put('a', 'é\n');
    await bench.history.commit({ id: 'call-1', message: 'Write “é”' });
    inHistory('fsck', '--strict', '--full');
    expect(inHistory('log', '-1', '--format=%P|%an <%ae>|%cn <%ce>|%B')).toBe(
      `${String(base?.args['commit'])}|Belay <belay@localhost>|Belay <belay@localhost>|Write “é”\n\nBelay-Call: call-1`,
    );
    expect(inHistory('show', 'HEAD:a')).toBe('é');
  });

  it('makes a commit for each call that changed something, and reports it', async () => {
    put('a', 'one\n');
    await bench.history.begin();
    put('a', 'one\ntwo\n');
    put('b/c');
    await bench.history.commit({ id: 'call-1', message: 'Edit a' });
    await bench.history.commit({ id: 'call-2', message: 'Nothing' });
    rmSync(join(bench.workspace, 'b'), { recursive: true });
    await bench.history.commit({ id: 'call-3', message: 'Remove\nb' });
    const [base, first, second] = bench.commits();
    expect(bench.commits()).toHaveLength(3);
    expect(base).toMatchObject({ args: { parent: null, files: [] } });
    expect(first).toMatchObject({
      id: 'call-1',
      args: {
        parent: base?.args['commit'],
        files: [
          { path: 'a', added: 1, removed: 0 },
          { path: 'b/c', added: 1, removed: 0 },
        ],
      },
    });
    expect(second).toMatchObject({
      id: 'call-3',
      args: { files: [{ path: 'b/c', added: 0, removed: 1 }] },
    });
    const { steps } = await bench.call('workspace.log', {});
    expect(steps.map(({ call, message }) => [call, message])).toEqual([
      ['call-3', 'Remove\nb'],
      ['call-1', 'Edit a'],
      ['', 'The workspace at the start'],
    ]);
    expect(steps[0]?.commit).toBe(second?.args['commit']);
  });

  it.each(
    sampled(1, [
      ['files that came afterwards', ['a', 'b/c']],
      ['an empty workspace', []],
    ]),
  )('is prepared before there is a session, and begins with %s', async (_, files) => {
    await bench.history.prepare();
    expect(bench.commits()).toEqual([]);
    for (const path of files) put(path);
    await bench.history.begin();
    put('new');
    await bench.history.commit({ id: 'call-1', message: 'New' });
    const [base, step] = bench.commits();
    expect(base).toMatchObject({ args: { parent: null } });
    expect(step).toMatchObject({
      args: { parent: base?.args['commit'], files: [{ path: 'new', added: 1, removed: 0 }] },
    });
    const { steps } = await bench.call('workspace.log', {});
    expect(steps.map(({ message }) => message)).toEqual(['New', 'The workspace at the start']);
    const zip = await buffer(
      await bench.history.export('tar', { commit: String(base?.args['commit']) }),
    );
    for (const path of files) expect(zip.toString('latin1')).toContain(path);
    expect((await buffer(await bench.history.export('patch'))).toString()).toMatch(
      /^diff --git a\/new b\/new/,
    );
  });

  it('records only the paths that are given, and the rest later', async () => {
    await bench.history.begin();
    put('a');
    put('*');
    put('d/e');
    await bench.history.commit({ id: '1', message: 'a', paths: ['*', 'd', 'gone'] });
    await bench.history.commit({ id: '2', message: 'rest' });
    expect(bench.files()).toEqual([[], ['*', 'd/e'], ['a']]);
  });

  it('leaves out what is ignored, but not what the own repository tracks all the same', async () => {
    put('.gitignore', '*.log\ndist/\n');
    put('dist/kept.js');
    git('init', '-q');
    git('add', '-f', '.');
    git('commit', '-q', '-m', 'x');
    await bench.history.begin();
    put('a.log');
    put('node_modules/x/index.js');
    put('dist/kept.js', 'new\n');
    put('dist/other.js', 'new\n');
    await bench.history.commit({ id: '1', message: 'x' });
    expect(bench.files().at(-1)).toEqual(['dist/kept.js']);
  });

  it('neither touches nor heeds the own repository, its settings, hooks and attributes', async () => {
    put(
      '.gitattributes',
      '* text=auto eol=crlf filter=evil diff=evil working-tree-encoding=UTF-16 export-ignore\n',
    );
    put('f', 'a\r\nb\n');
    git('init', '-q');
    const evil = join(bench.state, 'evil');
    for (const key of [
      'filter.evil.clean',
      'filter.evil.process',
      'diff.evil.textconv',
      'core.fsmonitor',
      'diff.external',
    ]) {
      git('config', key, `touch ${evil}; cat`);
    }
    git('config', 'filter.evil.required', 'true');
    const before = treeOf(join(bench.workspace, '.git'));
    await bench.history.begin();
    put('f', 'a\r\nc\n$Id$\r\n');
    await bench.history.commit({ id: '1', message: 'x' });
    const [, step] = bench.commits();
    expect(await bench.call('workspace.show', { commit: step?.args['commit'], path: 'f' })).toEqual(
      { content: 'a\r\nc\n$Id$\r\n', encoding: 'utf8' },
    );
    const { diff } = await bench.call('workspace.diff', {});
    expect(diff).toContain('+c\n');
    expect(treeOf(join(bench.workspace, '.git'))).toEqual(before);
    expect(existsSync(evil)).toBe(false);
    const zip = (await buffer(await bench.history.export('zip'))).toString('latin1');
    expect(zip).toContain('.gitattributes');
  });

  itLong(
    'keeps the files of repositories inside, with and without commits, and not their .git',
    async () => {
      put('inner/a');
      put('inner/deep/b');
      put('empty/c');
      for (const folder of ['inner', 'empty', 'inner/deep'])
        execFileSync('git', ['init', '-q'], { cwd: join(bench.workspace, folder) });
      execFileSync(
        'git',
        ['-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-q', '--allow-empty', '-m', 'x'],
        { cwd: join(bench.workspace, 'inner') },
      );
      await bench.history.begin();
      put('inner/a', 'new\n');
      put('empty/d');
      await bench.history.commit({ id: '1', message: 'x' });
      expect(bench.files().at(-1)).toEqual(['empty/d', 'inner/a']);
      const tar = (await buffer(await bench.history.export('tar'))).toString('latin1');
      expect(tar).toContain('inner/deep/b');
      expect(tar).not.toContain('.git/');
    },
  );

  it('recovers after a crash: a stale lock, and changes that were not recorded', async () => {
    put('a');
    await bench.history.begin();
    put('b');
    writeFileSync(join(bench.state, 'history.git/index.lock'), '');
    const again = bench.another();
    await again.begin();
    expect(bench.files()).toEqual([[], ['b']]);
  });

  it('takes odd names, links, a file that becomes a folder, and what cannot be read', async () => {
    put('sp ace "ü"\n', 'x');
    put('turn');
    await bench.history.begin();
    rmSync(join(bench.workspace, 'turn'));
    put('turn/into');
    symlinkSync('/etc/passwd', join(bench.workspace, 'link'));
    put('sp ace "ü"\n', 'y');
    const latin1 = Buffer.concat([Buffer.from(`${bench.workspace}/caf`), Buffer.of(0xe9)]);
    writeFileSync(latin1, 'x');
    execFileSync('mkfifo', [join(bench.workspace, 'pipe')]);
    await bench.history.commit({ id: '1', message: 'x' });
    expect(bench.files().at(-1)).toEqual([
      'caf\ufffd',
      'link',
      'sp ace "ü"\n',
      'turn',
      'turn/into',
    ]);
    rmSync(latin1);
    await bench.history.commit({ id: '2', message: 'x' });
    expect(bench.files().at(-1)).toEqual(['caf\ufffd']);
  });

  it('leaves out files above 50 MB and names them once', async () => {
    put('first.bin', '');
    truncateSync(join(bench.workspace, 'first.bin'), 50_000_001);
    await bench.history.begin();
    expect(bench.commits().at(-1)?.message).toBe(
      'Recorded the workspace at the start; left out first.bin (larger than 50 MB)',
    );
    put('big.bin', '');
    truncateSync(join(bench.workspace, 'big.bin'), 50_000_001);
    put('small');
    await bench.history.commit({ id: '1', message: 'x' });
    appendFileSync(join(bench.workspace, 'big.bin'), 'x');
    await bench.history.commit({ id: '2', message: 'x' });
    expect(bench.files()).toEqual([[], ['small']]);
    expect(bench.commits().at(-1)?.message).toBe(
      'Recorded small; left out big.bin (larger than 50 MB)',
    );
  });

  itLong('collects old steps above its size, and reports it', async () => {
    bench.remove();
    bench = historyBench({ maxBytes: 3_000_000 });
    put('base');
    await bench.history.begin();
    for (let n = 0; n < 8; n++) {
      put('data', randomBytes(n, 1_000_000));
      await bench.history.commit({ id: `${n}`, message: `step ${n}` });
    }
    const notes = bench
      .commits()
      .filter(({ message }) => message.startsWith('The history was too large'));
    expect(notes.length).toBeGreaterThan(0);
    const { steps } = await bench.call('workspace.log', {});
    expect(steps.length).toBeLessThan(8);
    expect(steps[0]?.message).toBe('step 7');
    const oldest = bench.commits()[1]?.args['commit'];
    await expect(
      bench.call('workspace.show', { commit: oldest, path: 'data' }),
    ).rejects.toMatchObject({ code: 'not_found' });
    const { files } = await bench.call('workspace.diff', {});
    expect(files).toMatchObject([{ path: 'data', status: 'added', binary: true }]);
    expect((await buffer(await bench.history.export('patch'))).toString()).toContain(
      'GIT binary patch',
    );
    writeFileSync(join(bench.state, 'b'), await buffer(await bench.history.export('bundle')));
    execFileSync('git', ['clone', '-q', 'b', 'clone'], { cwd: bench.state, stdio: 'pipe' });
    expect(treeOf(join(bench.state, 'clone'))).toMatchObject(treeOf(bench.workspace));
  });

  it('continues without git and reports it', async () => {
    const none = createHistory({
      workspace: bench.workspace,
      state: bench.state,
      writer: { append: () => undefined },
      git: null,
    });
    await none.begin();
    await none.commit({ id: '1', message: 'x' });
    expect(none.available).toBe(false);
    await expect(none.export('zip')).rejects.toMatchObject({ code: 'unavailable' });
  });

  itLong('reports once that it cannot be written, and continues once it can', async () => {
    put('first');
    await bench.history.begin();
    const index = readFileSync(join(bench.state, 'history.git/index'));
    writeFileSync(join(bench.state, 'history.git/index'), 'broken');
    put('a');
    for (const id of ['1', '2']) await bench.history.commit({ id, message: 'x' });
    await expect(bench.history.export('zip')).rejects.toMatchObject({ code: 'internal' });
    writeFileSync(join(bench.state, 'history.git/index'), index);
    await bench.history.commit({ id: '3', message: 'x' });
    expect(bench.commits().map(({ id, message }) => [id, message])).toEqual([
      [undefined, 'Recorded the workspace at the start'],
      [undefined, expect.stringMatching(/^The history could not be written: .* git status failed/)],
      ['3', 'Recorded a'],
    ]);
  });

  itLong('records what it can while files come and go', async () => {
    await bench.history.begin();
    put('kept');
    const churn = spawn(process.execPath, ['-e', churning, bench.workspace]);
    await new Promise((resolve) => churn.stdout.once('data', resolve));
    for (let n = 0; n < 15; n++) await bench.history.commit({ id: `${n}`, message: 'x' });
    churn.kill('SIGKILL');
    await new Promise((resolve) => churn.once('exit', resolve));
    await bench.history.commit({ id: 'last', message: 'x' });
    expect(bench.files().flat()).toContain('kept');
    expect((await bench.call('workspace.log', {})).steps.length).toBeGreaterThan(1);
  });

  it('that could not begin begins with a later step', async () => {
    writeFileSync(join(bench.state, '..', 'file'), '');
    symlinkSync('file', bench.state);
    put('a');
    await bench.history.begin();
    await bench.history.commit({ id: '1', message: 'x' });
    expect(bench.commits()).toEqual([]);
    rmSync(bench.state);
    await bench.history.commit({ id: '2', message: 'x' });
    expect(bench.commits().map(({ message }) => message)).toEqual([
      'Recorded the workspace at the start',
    ]);
  });

  itLong('takes paths as they were given to an operation', async () => {
    put('real/a');
    symlinkSync('real', join(bench.workspace, 'link'));
    await bench.history.begin();
    put('real/a', 'new\n');
    put('b');
    put('c');
    await bench.history.commit({
      id: '1',
      message: 'x',
      paths: ['link/a', `${bench.workspace}/b`, '../out'],
    });
    expect(bench.files().at(-1)).toEqual(['b', 'real/a']);
  });
});

describe('viewing', () => {
  it('shows diffs with renames, binaries and truncation', async () => {
    put('old', 'a\nb\nc\nd\ne\n');
    put('gone');
    await bench.history.begin();
    git('init', '-q');
    rmSync(join(bench.workspace, 'old'));
    rmSync(join(bench.workspace, 'gone'));
    put('new', 'a\nb\nc\nd\nE\n');
    put('bin', Buffer.from([0, 1, 2]));
    await bench.history.commit({ id: '1', message: 'x' });
    const { diff, files, truncated } = await bench.call('workspace.diff', {});
    expect(files).toEqual([
      { path: 'bin', status: 'added', added: 0, removed: 0, binary: true },
      { path: 'gone', status: 'deleted', added: 0, removed: 1, binary: false },
      { path: 'new', status: 'renamed', added: 1, removed: 1, binary: false },
    ]);
    expect(diff).toContain('rename from old\nrename to new');
    expect(truncated).toBe(false);
    put('large', 'line\n'.repeat(400_000));
    await bench.history.commit({ id: '2', message: 'x' });
    const large = await bench.call('workspace.diff', {});
    expect(large.truncated).toBe(true);
    expect(large.diff.length).toBeLessThanOrEqual(1_000_000);
    const [, first] = bench.commits();
    expect(
      (await bench.call('workspace.diff', { to: first?.args['commit'], path: 'new' })).files.map(
        ({ path }) => path,
      ),
    ).toEqual(['new']);
  });

  it('shows a file as it was, and refuses what is not there', async () => {
    put('a', 'é\n');
    put('b', Buffer.from([0, 255]));
    await bench.history.begin();
    const commit = bench.commits()[0]?.args['commit'];
    expect(await bench.call('workspace.show', { commit, path: './a' })).toEqual({
      content: 'é\n',
      encoding: 'utf8',
    });
    expect(await bench.call('workspace.show', { commit, path: 'b' })).toEqual({
      content: 'AP8=',
      encoding: 'base64',
    });
    for (const path of ['none', '../a', '/etc/passwd', '.']) {
      await expect(bench.call('workspace.show', { commit, path })).rejects.toThrow();
    }
    await expect(
      bench.call('workspace.show', { commit: 'abcdef1', path: 'a' }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('rewinding', () => {
  it('previews, then puts all files back, and can be undone', async () => {
    put('.gitignore', 'ignored\n');
    put('a', 'one\r\n');
    put('run.sh');
    chmodSync(join(bench.workspace, 'run.sh'), 0o755);
    symlinkSync('a', join(bench.workspace, 'link'));
    put('deep/er/b');
    await bench.history.begin();
    const start = bench.commits()[0]?.args['commit'];
    const before = treeOf(bench.workspace);
    put('a', 'two\n');
    chmodSync(join(bench.workspace, 'run.sh'), 0o644);
    rmSync(join(bench.workspace, 'deep'), { recursive: true });
    rmSync(join(bench.workspace, 'link'));
    put('new/file');
    await bench.history.commit({ id: '1', message: 'x' });
    put('unrecorded');
    put('ignored', 'stays');
    const changed = treeOf(bench.workspace);
    const preview = await bench.call('workspace.rewind', { commit: start, preview: true });
    expect(preview.commit).toBeNull();
    expect(preview.files).toEqual([
      { path: 'a', status: 'modified' },
      { path: 'deep/er/b', status: 'added' },
      { path: 'link', status: 'added' },
      { path: 'new/file', status: 'deleted' },
      { path: 'run.sh', status: 'modified' },
      { path: 'unrecorded', status: 'deleted' },
    ]);
    expect(treeOf(bench.workspace)).toEqual(changed);
    const rewound = await bench.call('workspace.rewind', { commit: start });
    expect(rewound.files).toEqual(preview.files);
    expect(treeOf(bench.workspace)).toEqual({ ...before, ignored: changed['ignored'] });
    expect(statSync(join(bench.workspace, 'run.sh')).mode & 0o111).toBe(0o111);
    expect(readlinkSync(join(bench.workspace, 'link'))).toBe('a');
    expect(bench.commits().at(-1)).toMatchObject({
      args: { commit: rewound.commit },
      message: `Rewound the files to ${String(start).slice(0, 7)}, “The workspace at the start”`,
    });
    const { steps } = await bench.call('workspace.log', {});
    await bench.call('workspace.rewind', { commit: steps[1]?.commit });
    expect(treeOf(bench.workspace)).toEqual(changed);
  });

  it('does not write through a link that stands where a folder was', async () => {
    put('folder/a', 'old\n');
    await bench.history.begin();
    const start = bench.commits()[0]?.args['commit'];
    rmSync(join(bench.workspace, 'folder'), { recursive: true });
    const outside = join(bench.state, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, join(bench.workspace, 'folder'));
    await bench.call('workspace.rewind', { commit: start });
    expect(existsSync(join(outside, 'a'))).toBe(false);
    expect(lstatSync(join(bench.workspace, 'folder')).isDirectory()).toBe(true);
    expect(readFileSync(join(bench.workspace, 'folder/a'), 'utf8')).toBe('old\n');
  });
});

/** Bytes that do not shrink, and are the same in each run. */
function randomBytes(seed: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let state = seed + 1;
  for (let at = 0; at < size; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    bytes[at] = state >>> 16;
  }
  return bytes;
}

const churning = `
  const { writeFileSync, rmSync } = require('node:fs');
  process.chdir(process.argv[1]);
  process.stdout.write('ready');
  for (let n = 0; ; n++) {
    try { writeFileSync('churn' + (n % 40), String(n)); } catch {}
    try { rmSync('churn' + ((n * 7) % 40)); } catch {}
  }
`;
