import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { temporary, write } from '../../testing/fixtures.js';
import { suiteNamed } from '../index.js';

const { folder, remove } = temporary();
afterAll(remove);

const image = 'test/cases/a/expected.png';
const script = `#!/bin/bash\ncd /testbed\n: '>>>>> Start Test Output'\nnode t\n: '>>>>> End Test Output'\n`;

/** The files of a task, with changes to its description. */
const taskFiles = (id: string, more = '', split = 'test') => ({
  [`tasks/${id}/task.yaml`]: `instance_id: ${id}\nrepo: own/thing\nbase_commit: 1234567\nversion: 1.10\nsplit: ${split}\nimage: own/image:1\nlog_parser: parse_log_openlayers\neval_type: fail_only\n${more}`,
  [`tasks/${id}/tests.json`]: '{"FAIL_TO_PASS": ["a"], "PASS_TO_PASS": []}',
  [`tasks/${id}/problem_statement.md`]: 'It is wrong.\r\n',
  [`tasks/${id}/gold.patch`]: 'diff --git a/a.js b/a.js\n',
  [`tasks/${id}/test.patch`]: 'diff --git a/test/a.js b/test/a.js\n',
  [`tasks/${id}/eval.sh`]: script,
});
const withImage = `image_assets:\n  patch: []\n  problem_statement: [https://host.example/a.png]\n  test_patch:\n  - path: ${image}\n    url: https://host.example/b.png\n`;

let made = 0;
const repository = (files: Record<string, string | Buffer>) =>
  write(join(folder, String(++made)), {
    'sweb.yaml': 'datasets: [own/set]\nsplits: [dev, test]\n',
    ...files,
  });
const read = (path: string, note?: (sentence: string) => void) =>
  suiteNamed('swe-bench').read(path, note);
const filesOf = (task?: ReturnType<typeof read>[number]) =>
  new Map(task?.steps[0]?.verifier.files.map(({ path, bytes }) => [path, bytes]));

it('reads the tasks of a repository as lines of its data set', () => {
  const root = repository(taskFiles('own__thing-1'));
  const [task, ...others] = read(root);
  expect(others).toEqual([]);
  expect(task).toMatchObject({
    id: 'own__thing-1',
    unsupported: null,
    labels: { repository: 'own/thing', split: 'test' },
    environment: { image: { image: 'own/image:1', commit: '1234567' } },
    tests: { FAIL_TO_PASS: ['a'], PASS_TO_PASS: [], type: 'fail_only' },
    steps: [{ instruction: 'It is wrong.\r\n' }],
  });
  expect(read(join(root, 'tasks'))).toEqual([expect.objectContaining({ id: 'own__thing-1' })]);
  const line = { ...lineOf('own__thing-1'), version: '1.10' };
  const data = write(join(folder, 'lines'), { 'one.jsonl': `${JSON.stringify(line)}\n` });
  expect(read(data)[0]?.content).toBe(task?.content);
});

const lineOf = (id: string, more: object = {}) => ({
  instance_id: id,
  repo: 'own/thing',
  base_commit: '1234567',
  image: 'own/image:1',
  log_parser: 'parse_log_openlayers',
  eval_type: 'fail_only',
  FAIL_TO_PASS: '["a"]',
  PASS_TO_PASS: '[]',
  problem_statement: 'It is wrong.\r\n',
  patch: 'diff --git a/a.js b/a.js\n',
  test_patch: 'diff --git a/test/a.js b/test/a.js\n',
  eval_script: script,
  ...more,
});

it('leaves out the splits that are not published, unless a task is named', () => {
  const root = repository({
    ...taskFiles('own__thing-1'),
    ...taskFiles('own__thing-2', '', 'deprecated'),
  });
  const notes: string[] = [];
  expect(read(root, (note) => notes.push(note)).map(({ id }) => id)).toEqual(['own__thing-1']);
  expect(notes).toEqual(['1 task is left out: sweb.yaml does not publish the split deprecated.']);
  expect(read(join(root, 'tasks')).map(({ id }) => id)).toEqual(['own__thing-1']);
  expect(read(join(root, 'tasks/own__thing-2')).map(({ id }) => id)).toEqual(['own__thing-2']);
});

it('a broken task affects only itself, and names its file', () => {
  const broken = taskFiles('own__thing-2');
  delete broken['tasks/own__thing-2/tests.json'];
  const unclear = { ...taskFiles('own__thing-3'), 'tasks/own__thing-3/tests.json': '[' };
  const tasks = read(repository({ ...taskFiles('own__thing-1'), ...broken, ...unclear }));
  expect(tasks.map(({ id, unsupported }) => [id, unsupported])).toEqual([
    ['own__thing-1', null],
    ['own__thing-2', expect.stringContaining('own__thing-2: it has no tests.json.')],
    ['own__thing-3', expect.stringContaining('own__thing-3: its tests.json is not JSON')],
  ]);
});

it.each(['splits: 3\n', '[', ''])('names the list of splits %j that cannot be read', (text) => {
  const root = repository({ ...taskFiles('own__thing-1'), 'sweb.yaml': text });
  expect(() => read(root)).toThrow(`${root}/sweb.yaml`);
});

it('a task whose description is not YAML affects only itself', () => {
  const root = repository({
    ...taskFiles('own__thing-1'),
    ...taskFiles('own__thing-2'),
    'tasks/own__thing-2/task.yaml': 'a: [',
  });
  expect(read(root).map(({ id, broken }) => [id, broken])).toEqual([
    ['own__thing-1', undefined],
    ['own__thing-2', true],
  ]);
});

it('copies images beside the test patch, and hides them from the agent’s changes', () => {
  const bytes = Buffer.from([137, 80, 78, 71, 0, 255]);
  const id = 'own__thing-1';
  const root = repository({
    ...taskFiles(id, withImage),
    [`tasks/${id}/test_assets/${image}`]: bytes,
  });
  const line = { ...lineOf(id), image_assets: JSON.stringify({ test_patch: [{ path: image }] }) };
  write(join(folder, 'beside'), {
    'data.jsonl': `${JSON.stringify(line)}\n`,
    [`tasks/${id}/test_assets/${image}`]: bytes,
  });
  for (const path of [root, join(folder, 'beside/data.jsonl')]) {
    const [task] = read(path);
    const files = filesOf(task);
    expect(task?.unsupported).toBeNull();
    expect(files.get(`/verify/assets/${image}`)).toEqual(bytes);
    expect(files.get('/verify/hidden')?.toString().split('\0')).toContain(image);
    expect(files.get('/verify/eval.sh')?.toString()).toContain(
      `cp -R /verify/assets/. /testbed/ || exit 96\necho "\${BELAY_TESTS_START-}"\n: '>>>>> Start`,
    );
  }
});

it('refuses a task whose images are missing, with the first one', () => {
  const [task] = read(repository(taskFiles('own__thing-1', withImage)));
  expect(task?.unsupported).toBe(
    `Its tests need ${image}, but the data have no such files. Put them below tasks/own__thing-1/test_assets, beside the data.`,
  );
  // Addresses in classic lines do not name files, and the text of the problem needs none.
  const only = { problem_statement: ['https://a.example'], patch: ['https://a.example/b.png'] };
  const data = write(join(folder, 'addresses'), {
    'a.jsonl': `${JSON.stringify({ ...lineOf('a__b-1'), image_assets: JSON.stringify(only) })}\n`,
  });
  expect(read(data)[0]?.unsupported).toBeNull();
});

describe('attacks: images that lead to other files of this machine', () => {
  const dataWith = (name: string, more: object) =>
    write(join(folder, name), {
      'a.jsonl': `${JSON.stringify(lineOf('sound__sound-1'))}\n${JSON.stringify({ ...lineOf('a__b-1'), ...more })}\n`,
    });

  it.each(['../../etc/passwd', '/etc/passwd', 'a/../../b', '.git/hooks/post-checkout'])(
    'refuses the path %s',
    (path) => {
      const root = dataWith(`path-${made++}`, { image_assets: { test_patch: [{ path }] } });
      expect(read(root)[1]?.unsupported).toContain('outside of the repository');
    },
  );

  it('follows no link', () => {
    const root = dataWith('link', { image_assets: { test_patch: [{ path: 'a.png' }] } });
    write(root, { 'tasks/a__b-1/test_assets/b.png': 'x', 'secret.txt': 'secret' });
    symlinkSync(join(root, 'secret.txt'), join(root, 'tasks/a__b-1/test_assets/a.png'));
    expect(read(join(root, 'a.jsonl'))[1]?.unsupported).toContain(
      'Its tests need a.png, but the data',
    );
  });
});

it('says what to do with a Parquet file, named or in a folder', () => {
  const root = write(join(folder, 'parquet'), { 'test.parquet': 'PAR1' });
  for (const path of [root, join(root, 'test.parquet')])
    expect(() => read(path)).toThrow(/test\.parquet is in the Parquet format.*Convert it/);
});
