import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { filesBench, type FilesBench } from './testing/files-bench.js';

const rg = ['/opt/belay', ...(process.env['PATH'] ?? '').split(':')]
  .map((folder) => join(folder, 'rg'))
  .find((path) => existsSync(path));

/** Ripgrep where the machine has it, and always the search without. */
const searchers: [string, string | null][] = [
  ['plain', null],
  ...(rg ? [['ripgrep', rg] as [string, string]] : []),
];

describe.each(searchers)('search: %s', (_, searcher) => {
  let bench: FilesBench;
  beforeEach(() => {
    bench = filesBench(searcher);
    const files: Record<string, string> = {
      '.gitignore': '*.log\n/build/\n!keep.log\n',
      '.env': 'needle in hidden file\n',
      '.git/config': 'needle\n',
      'build/out.js': 'needle\n',
      'node_modules/x/index.js': 'needle\n',
      'a.log': 'needle\n',
      'keep.log': 'needle\n',
      'src/a.ts': 'one\nNeedle (1)\nthree\r\nneedle\r\nfive\n',
      'src/deep/b.js': 'const needle = 1;\n',
      'src/deep/.gitignore': 'c.js\n',
      'src/deep/c.js': 'needle\n',
      'bin.dat': 'needle\0\n',
      'wide.txt': `${'x'.repeat(900)}needle\n`,
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(bench.root, dirname(path)), { recursive: true });
      writeFileSync(join(bench.root, path), text);
    }
  });
  afterEach(() => bench.remove());
  const search = (input: object) => bench.call('files.search', input);
  const places = async (input: object) =>
    (await search(input)).matches.map(({ path, line }) => `${path}:${line}`).sort();

  it('finds lines, leaving out what is ignored or binary', async () => {
    expect(await places({ pattern: 'needle' })).toEqual([
      '.env:1',
      'keep.log:1',
      'src/a.ts:4',
      'src/deep/b.js:1',
      'wide.txt:1',
    ]);
    const { matches } = await search({ pattern: 'needle$', path: 'src/a.ts' });
    expect(matches).toEqual([{ path: 'src/a.ts', line: 4, text: 'needle' }]);
  });

  it('takes case, literals, names and folders', async () => {
    expect(await places({ pattern: 'NEEDLE', ignoreCase: true, name: '*.ts' })).toEqual([
      'src/a.ts:2',
      'src/a.ts:4',
    ]);
    expect(await places({ pattern: '(1)', literal: true })).toEqual(['src/a.ts:2']);
    expect(await places({ pattern: 'needle', path: 'src/deep' })).toEqual(['src/deep/b.js:1']);
    expect(await places({ name: '*.js' })).toEqual(['src/deep/b.js:0']);
    expect(await places({ name: '*.log' })).toEqual(['keep.log:0']);
    expect(await places({ name: 'src/**/*.js' })).toContain('src/deep/b.js:0');
    expect(await places({ pattern: '-needle' })).toEqual([]);
  });

  it('shows the lines around, and cuts long ones', async () => {
    const { matches } = await search({ pattern: 'Needle', context: 1 });
    expect(matches.map(({ line, text }) => [line, text])).toEqual([
      [1, 'one'],
      [2, 'Needle (1)'],
      [3, 'three'],
    ]);
    const [wide] = (await search({ pattern: 'needle', name: 'wide.txt' })).matches;
    expect(wide?.text).toBe(`…${'x'.repeat(494)}needle`);
  });

  it('shows the match in a long line, and tells matches from the lines around', async () => {
    const line = `${'é'.repeat(2_000)} needle ${'y'.repeat(2_000)}`;
    writeFileSync(join(bench.root, 'min.js'), `before\n${line}\nafter\n`);
    const { matches } = await search({ pattern: 'needle', path: 'min.js', context: 1 });
    expect(matches).toMatchObject([
      { line: 1, match: false, text: 'before' },
      { line: 2, match: true, text: expect.stringMatching(/^…é{149} needle y+…$/) },
      { line: 3, match: false, text: 'after' },
    ]);
    expect(matches[1]?.text).toHaveLength(502);
    const [plain] = (await search({ pattern: 'needle', path: 'src/a.ts' })).matches;
    expect(plain).not.toHaveProperty('match');
  });

  it('counts the matches that it does not list', async () => {
    writeFileSync(join(bench.root, 'many.txt'), 'needle\n'.repeat(30_000));
    const few = await search({ pattern: 'needle', path: 'src', limit: 1 });
    expect(few).toMatchObject({ truncated: true, left: 1 });
    const many = await search({ pattern: 'needle', path: 'many.txt', limit: 5 });
    expect(many).toMatchObject({ truncated: true, left: 10_000 });
    expect(many.matches).toHaveLength(5);
    expect(await search({ pattern: 'needle', path: 'src' })).toMatchObject({ left: 0 });
  });

  it('stops at the limit and reports it', async () => {
    expect(await search({ pattern: 'needle', limit: 2 })).toMatchObject({
      truncated: true,
      matches: [{}, {}],
    });
    expect(await search({ pattern: 'needle', limit: 5 })).toMatchObject({ truncated: false });
  });

  it('refuses a broken expression, an empty search, a folder that is not there and one outside', async () => {
    await expect(search({ pattern: '(' })).rejects.toMatchObject({ code: 'invalid_input' });
    for (const nothing of [{}, { pattern: '', name: '' }])
      await expect(search(nothing)).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('Give a `pattern`') as string,
      });
    expect(await places({ pattern: 'needle', path: 'src/deep', name: '' })).toEqual([
      'src/deep/b.js:1',
    ]);
    await expect(search({ pattern: 'x', path: 'none' })).rejects.toMatchObject({
      code: 'not_found',
    });
    const outside = mkdtempSync(join(tmpdir(), 'belay-outside-'));
    writeFileSync(join(outside, 'f'), 'needle');
    symlinkSync(outside, join(bench.root, 'src/out'));
    expect(await places({ pattern: 'needle', path: 'src/deep/..' })).toEqual([
      'src/a.ts:4',
      'src/deep/b.js:1',
    ]);
    rmSync(outside, { recursive: true });
  });

  it('identifies the files of the matches for the agent, which may edit them, and for no one else', async () => {
    const { version } = await bench.call('files.read', { path: 'src/a.ts' });
    const input = { pattern: 'needle', path: 'src' };
    expect((await search(input)).versions).toMatchObject({ 'src/a.ts': version });
    bench.source = 'user';
    const { matches, versions } = await search(input);
    expect(matches).toHaveLength(2);
    expect(versions).toBeUndefined();
  });

  it('ends when the call is cancelled', async () => {
    await expect(
      bench.call('files.search', { pattern: 'x' }, AbortSignal.abort()),
    ).rejects.toMatchObject({ code: 'cancelled' });
  });
});

it('does not hang on an expression that backtracks', async () => {
  const bench = filesBench(null);
  writeFileSync(join(bench.root, 'f'), `${'a'.repeat(40)}!\n`);
  await expect(bench.call('files.search', { pattern: '^(a+)+$' })).rejects.toMatchObject({
    code: 'timeout',
  });
  bench.remove();
});
