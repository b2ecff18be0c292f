import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { PrivateRepository } from '@belay/host';
import { sampled } from '@belay/testing';
import { rerunTrees } from './trees.js';

type Files = Record<string, string | { mode: string; text: string }>;

let repository: PrivateRepository;
beforeEach(async () => {
  repository = await PrivateRepository.create();
});
afterEach(() => repository.remove());

async function treeOf(files: Files): Promise<string> {
  const entries = await Promise.all(
    Object.entries(files).map(async ([path, file]) => {
      const { mode, text } = typeof file === 'string' ? { mode: '100644', text: file } : file;
      const id = mode === '160000' ? '1'.repeat(40) : await repository.addBlob(Buffer.from(text));
      return `${mode} ${id}\t${path}\0`;
    }),
  );
  const environment = { GIT_INDEX_FILE: join(repository.folder, `${randomUUID()}.index`) };
  const git = async (args: readonly string[], input = ''): Promise<string> => {
    const run = await repository.run(args, { input: Buffer.from(input, 'latin1'), environment });
    if (run.code !== 0) throw new Error(run.errors);
    return run.output.toString().trim();
  };
  await git(['update-index', '-z', '--index-info'], entries.join(''));
  return git(['write-tree']);
}

/** What `addBlob` has stored, read without a process for each. */
const storedText = (id: string): string => {
  const file = join(repository.folder, 'objects', id.slice(0, 2), id.slice(2));
  return inflateSync(readFileSync(file))
    .toString()
    .replace(/^[^\0]*\0/, '');
};

async function filesOf(tree: string | null): Promise<Record<string, string> | null> {
  if (tree === null) return null;
  const { output } = await repository.run(['ls-tree', '-r', '-z', tree]);
  const entries = output.toString().split('\0').filter(Boolean);
  return Object.fromEntries(
    entries.map((entry) => {
      const [, type, id = '', path = ''] = /^\d+ (\w+) (\w+)\t(.*)$/s.exec(entry) ?? [];
      return [path, type === 'blob' ? storedText(id) : ''];
    }),
  );
}

async function trees(
  base: Files,
  result: Files,
  { files, testFiles }: { files?: readonly string[]; testFiles?: readonly string[] } = {},
) {
  const { signal } = new AbortController();
  const of = { base: await treeOf(base), result: await treeOf(result) };
  const made = await rerunTrees(repository, { ...of, files, testFiles, signal });
  expect(made).toMatchObject(of);
  return {
    refusal: made.refusal,
    withTests: await filesOf(made.withTests),
    guarded: await filesOf(made.guarded),
    guardedTests: await filesOf(made.guardedTests),
  };
}

const base = { 'src/a.js': 'old', 'test/a.test.js': 'old test', 'package.json': '{}' };
const result = { ...base, 'src/a.js': 'new', 'test/a.test.js': 'new test' };

it('adds the named tests of the result to the base, and nothing else of it', async () => {
  const more = { ...result, 'test/other.test.js': 'x', 'src/b.js': 'x' };
  expect(await trees(base, more, { files: ['test/a.test.js'] })).toEqual({
    refusal: null,
    withTests: { ...base, 'test/a.test.js': 'new test' },
    guarded: null,
    // An edited test counts, a new one does not.
    guardedTests: { ...more, 'test/a.test.js': 'old test' },
  });
});

it('puts back what decides how tests run, also where the result removes it', async () => {
  const { 'package.json': _, ...without } = result;
  const made = await trees(base, { ...without, 'conftest.py': 'x', 'sub/jest.config.js': 'x' });
  expect(made).toEqual({
    refusal: null,
    withTests: null,
    guarded: result,
    guardedTests: { ...result, 'test/a.test.js': 'old test' },
  });
});

it('puts back a test that the result deletes', async () => {
  const { 'test/a.test.js': _, ...without } = result;
  const { guarded, guardedTests } = await trees(base, without);
  expect(guarded).toBeNull();
  expect(guardedTests).toEqual({ ...without, 'test/a.test.js': 'old test' });
});

it('makes no other trees of a change without tests', async () => {
  expect(await trees(base, { ...base, 'src/a.js': 'new' })).toEqual({
    refusal: null,
    withTests: null,
    guarded: null,
    guardedTests: null,
  });
});

it('lets a folder of tests take the place of a file, and a file that of a folder', async () => {
  const made = await trees(
    { test: 'a file', 'spec/x/y.js': 'x', 'a.js': 'x' },
    { 'test/a.js': 'test', 'spec/x': 'test', 'a.js': 'x' },
    { files: ['test/a.js', 'spec/x'] },
  );
  expect(made.withTests).toEqual({ 'test/a.js': 'test', 'spec/x': 'test', 'a.js': 'x' });
});

it('says so where a commit is not there', async () => {
  const of = { base: 'f'.repeat(40), result: await treeOf(result) };
  const { signal } = new AbortController();
  const made = rerunTrees(repository, { ...of, files: undefined, signal });
  await expect(made).rejects.toMatchObject({ code: 'not_found' });
});

it('takes tests by the globs that are given', async () => {
  const change = { ...result, 'checks/a.check': 'x' };
  const named = (testFiles: string[]) =>
    trees(base, change, { files: ['checks/a.check'], testFiles }).then(({ refusal }) => refusal);
  expect(await named(['checks/**'])).toBeNull();
  expect(await named(['**/*.{test,spec}.js'])).toContain('is not a test file');
});

it('knows tests by the usual places and names', async () => {
  const paths = [
    'test/a.js',
    'lib/tests/deep/a.py',
    'src/__tests__/a.tsx',
    'a.spec.ts',
    'pkg/a_test.go',
    'test_a.py',
    'src/AServiceTest.java',
  ];
  const added = Object.fromEntries(paths.map((path) => [path, 'x']));
  const { withTests } = await trees(base, { ...result, ...added }, { files: paths });
  expect(withTests).toEqual({ ...base, ...added });
});

describe('attacks', () => {
  /** Why each of these names is refused; null for one that is not. */
  async function refusals(of: { base: Files; result: Files }, names: readonly string[]) {
    const { signal } = new AbortController();
    const two = { base: await treeOf(of.base), result: await treeOf(of.result) };
    const made = await Promise.all(
      names.map((name) =>
        rerunTrees(repository, { ...two, files: ['test/a.test.js', name], signal }),
      ),
    );
    for (const { refusal, withTests } of made) expect(withTests === null).toBe(refusal !== null);
    return made.map(({ refusal }) => refusal);
  }

  it.each(
    sampled(1, [
      [['package.json', 'test/conftest.py', 'test/jest.config.js', '.github/workflows/test.yml']],
      [['test/package.json', 'test/vitest.setup.ts', 'test/.mocharc.yml', 'test/.env.test']],
      [['tests/pytest.ini', 'tests/sitecustomize.py', 'test/Makefile', 'test/.gitlab-ci.yml']],
      [['test/node_modules/assert/index.js', 'test/package-lock.json', 'test/tsconfig.json']],
      [['test/Cargo.toml', 'test/go.mod', 'test/Gemfile', 'test/build.gradle.kts']],
    ]),
  )('reproductions that name %j are refused, and the guard puts them back', async (paths) => {
    const change = { ...result, ...Object.fromEntries(paths.map((path) => [path, 'x'])) };
    const all = await refusals({ base, result: change }, paths);
    for (const why of all) expect(why).toContain('changes how tests run');
    const { guarded } = await trees(base, change);
    expect(guarded).toEqual(result);
  });

  it('names that are not those of a regular test file of the change are refused', async () => {
    const same = { 'test/same.test.js': 'x' };
    const expected = [
      ['src/a.js', 'is not a test file'],
      ['test/missing.test.js', 'does not contain'],
      ['test/same.test.js', 'does not contain'],
      ['test/gone.test.js', 'deletes'],
      ['test/link.test.js', 'not a regular file'],
      ['test/sub', 'not a regular file'],
      ['../test/a.test.js', 'not a path'],
      ['/test/a.test.js', 'not a path'],
      ['test/../src/a.js', 'not a path'],
      ['test/.git/hooks/a.test.js', 'not a path'],
      ['test/.GIT/config', 'not a path'],
      ['test//a.test.js', 'not a path'],
      ['', 'not a path'],
      ['test/a\0b', 'not a path'],
      ['test/\u202Etxt.js', 'does not contain'],
    ] as const;
    const change = {
      ...result,
      ...same,
      'test/link.test.js': { mode: '120000', text: '../src/a.js' },
      'test/sub': { mode: '160000', text: '' },
    };
    const all = await refusals(
      { base: { ...base, ...same, 'test/gone.test.js': 'x' }, result: change },
      expected.map(([name]) => name),
    );
    for (const [index, [, why]] of expected.entries()) expect(all[index]).toContain(why);
    expect(all.join('')).not.toMatch(/\p{Bidi_Control}/u);
    expect(await refusals({ base, result }, ['test/a.test.js'])).toEqual([null]);
  });

  it('hostile names of files stay names', async () => {
    const paths = [
      'test/-rf',
      'test/--index-info',
      'test/a\nb.js',
      "test/a' $(touch x) `y`",
      'test/a\tb.js',
      'test/é"\\.js',
      'test/*',
      'test/:(exclude)x',
    ];
    const added = Object.fromEntries(paths.map((path) => [path, 'x']));
    const encoded = Object.fromEntries(
      paths.map((path) => [Buffer.from(path).toString('latin1'), 'x']),
    );
    const { refusal, withTests } = await trees(base, { ...result, ...encoded }, { files: paths });
    expect(refusal).toBeNull();
    expect(withTests).toEqual({ ...base, ...added });
  });

  it('a name that is not UTF-8 is refused, because it could stand for another one', async () => {
    const hidden = trees(base, { ...result, 'test/a\xff.config.js': 'x' });
    await expect(hidden).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('a link among the tests is not followed by what is put back', async () => {
    const { guardedTests } = await trees(base, {
      ...base,
      'test/a.test.js': { mode: '120000', text: '../package.json' },
    });
    expect(guardedTests).toEqual(base);
  });
});
