import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { predictionsFrom } from '../agents/predictions.js';
import {
  doubling,
  polyglotData,
  temporary,
  terminalBenchData,
  write,
} from '../testing/fixtures.js';
import { suiteNamed } from './index.js';
import { linesIn } from '../lines.js';

const { folder, remove } = temporary();
afterAll(remove);

let made = 0;
const fileOf = (...lines: (string | object)[]): string => {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  const name = `${++made}.jsonl`;
  return join(write(folder, { [name]: `${text.join('\n')}\n` }), name);
};
const read = (path: string) => suiteNamed('human-eval').read(path);
const failure = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('a task that cannot be read', () => {
  it('affects only itself, and is reported with its line and fields', () => {
    const path = fileOf(doubling, { task_id: 'Own/1', prompt: 3 }, '{"task_id": "Own/2"', {
      ...doubling,
      task_id: 'Own/3',
    });
    const tasks = read(path);
    expect(tasks.map(({ id, broken = false }) => [id, broken])).toEqual([
      ['Own/0', false],
      ['Own/1', true],
      ['line-3', true],
      ['Own/3', false],
    ]);
    expect(tasks[1]?.unsupported).toMatch(/line 2, cannot be read: prompt: .*; entry_point: /);
    expect(tasks[2]?.unsupported).toMatch(/line 3, is not JSON\.$/);
  });

  it('may be one of several folders', () => {
    const root = polyglotData(join(folder, 'exercises'));
    write(root, { 'python/odd/.meta/config.json': '{"files": {"solution": "one"}}' });
    write(root, { 'python/bare/.meta/config.json': '{"files": ' });
    const tasks = suiteNamed('polyglot').read(root);
    expect(tasks.map(({ id, broken = false }) => [id, broken])).toEqual([
      ['python/bare', true],
      ['python/odd', true],
      ['python/twice', false],
    ]);
    expect(tasks[1]?.unsupported).toMatch(/python\/odd, cannot be read: files\.solution: /);
  });

  it('is an error if there is no other', () => {
    expect(failure(() => read(fileOf({ a: 1 }, 'no json')))).toMatch(
      /line 1, cannot be read: task_id: .* line 2, is not JSON\.$/,
    );
    expect(failure(() => read(fileOf('')))).toMatch(
      /contains no tasks\. Name data of the suite human-eval\.$/,
    );
  });

  it('may have an unknown parser, which is found before an agent works on it', () => {
    const root = terminalBenchData(join(folder, 'terminal'));
    write(root, { 'answer/task.yaml': 'instruction: Write.\nparser_name: mocha\n' });
    const [task] = suiteNamed('terminal-bench').read(root);
    expect(task?.unsupported).toBe('The parser mocha is not supported; only pytest is.');
  });
});

describe('a file of another suite', () => {
  const mbpp = { task_id: 1, text: 'Do.', code: 'x = 1\n', test_list: ['assert x == 1'] };
  const plus = {
    task_id: 'Mbpp/2',
    prompt: '"""Do."""',
    entry_point: 'f',
    canonical_solution: 'def f(): pass',
    base_input: [],
    plus_input: [],
  };
  const instance = { repo: 'a/b', instance_id: 'a__b-1', problem_statement: 'It.', base_files: {} };
  const named = (suite: string, ...lines: (string | object)[]) =>
    failure(() => suiteNamed(suite).read(fileOf(...lines)));

  it('is named before anything runs, with the suite to use', () => {
    expect(named('mbpp', doubling, { ...doubling, task_id: 'Own/1' })).toMatch(
      /jsonl is not data of the suite mbpp: it begins with a task of HumanEval\. Use the suite human-eval, or name other data\.$/,
    );
    expect(named('human-eval', mbpp)).toMatch(/suite human-eval: it begins with a task of MBPP\. /);
    expect(named('human-eval', plus)).toMatch(/suite human-eval: it begins with a task of MBPP\. /);
    expect(named('swe-bench', doubling)).toMatch(/begins with a task of HumanEval\. /);
    expect(named('mbpp', instance)).toMatch(/begins with an instance of SWE-bench\. /);
    expect(named('swe-bench', { instance_id: 'a', model_patch: '' })).toMatch(
      /begins with a prediction\. Name the data with --data, and this file with --agent/,
    );
    expect(named('human-eval', { task_id: 'Own/0', completion: '' })).toMatch(/a prediction\. /);
  });

  it('is not one with a single wrong line, which affects only itself', () => {
    const tasks = read(fileOf(doubling, mbpp));
    expect(tasks.map(({ broken = false }) => broken)).toEqual([false, true]);
    expect(tasks[1]?.unsupported).toMatch(/line 2, is a task of MBPP\. Use the suite mbpp/);
  });

  it('is read by its own suite', () => {
    expect(suiteNamed('mbpp').read(fileOf(mbpp))).toHaveLength(1);
    expect(suiteNamed('mbpp').read(fileOf(plus))).toHaveLength(1);
    expect(read(fileOf(doubling))).toHaveLength(1);
  });
});

it('a byte order mark is not part of the first line', () => {
  const [marked] = read(fileOf(`\uFEFF${JSON.stringify(doubling)}`, { ...doubling, task_id: 'b' }));
  expect(marked?.content).toBe(read(fileOf(doubling))[0]?.content);
  expect(read(fileOf(`\uFEFF[${JSON.stringify(doubling)}]`))[0]?.id).toBe('Own/0');
  const good = { task_id: 'Own/0', completion: 'a' };
  const { counts } = predictionsFrom(fileOf(`\uFEFF${JSON.stringify(good)}`, good));
  expect(counts).toEqual(new Map([['Own/0', 2]]));
  const list = write(folder, { 'marked.json': `\uFEFF[${JSON.stringify(good)}]` });
  expect(predictionsFrom(join(list, 'marked.json')).counts).toEqual(new Map([['Own/0', 1]]));
  const path = fileOf(`\uFEFFone`, 'two');
  expect(Array.from(linesIn(path), ({ offset, bytes }) => [offset, String(bytes)])).toEqual([
    [3, 'one'],
    [7, 'two'],
  ]);
});

describe('a file that cannot be read', () => {
  it('is reported in one sentence', () => {
    const long = join(folder, 'x'.repeat(300));
    const cut = join(folder, 'human-eval-cut.jsonl.gz');
    write(folder, {
      'human-eval-cut.jsonl.gz': gzipSync(JSON.stringify(doubling)).subarray(0, 40),
    });
    expect(failure(() => read(long))).toMatch(/has a name that is too long for this system\.$/);
    expect(failure(() => suiteNamed('harbor').read(long))).toMatch(/too long for this system\.$/);
    expect(failure(() => read(cut))).toMatch(/is a truncated gzip file\.$/);
    expect(failure(() => predictionsFrom(join(folder, 'none')))).toMatch(/none does not exist\.$/);
    expect(failure(() => predictionsFrom(folder))).toMatch(/is a folder\. Name the file in it\.$/);
  });

  it('names the line of a prediction with wrong fields', () => {
    const good = { task_id: 'Own/0', completion: '' };
    expect(predictionsFrom(fileOf(good)).counts).toEqual(new Map([['Own/0', 1]]));
    expect(failure(() => predictionsFrom(fileOf(good, { task_id: 'Own/1' })))).toMatch(
      /line 2, has neither completion nor solution\.$/,
    );
    const patch = { instance_id: 'a', model_name_or_path: 'm' };
    expect(failure(() => predictionsFrom(fileOf(patch)))).toMatch(
      /line 1, cannot be read: model_patch: /,
    );
    expect(failure(() => predictionsFrom(fileOf(good, '{')))).toMatch(/line 2, is not JSON\.$/);
  });
});
