import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Trial, Verdict } from '../../model.js';
import { fail, invalid, pass } from '../../model.js';
import { suiteNamed } from '../../suites/index.js';
import {
  harborData,
  humanEvalData,
  polyglotData,
  sweBenchData,
  temporary,
  terminalBenchData,
  write,
} from '../../testing/fixtures.js';
import type { RunFile } from '../run-file.js';
import { writeNative } from './index.js';

const { folder, remove } = temporary();
afterAll(remove);

const run = (suite: string, data: string): RunFile => ({
  version: 1,
  suite,
  data,
  agent: 'model',
  model: 'own:large',
  tasks: ['a'],
  unattempted: [],
  attempts: 1,
  concurrency: 4,
  network: 'none',
  places: ['this-machine'],
  sessionLabels: {},
  buildNetwork: 'default',
  fromMap: [],
  sandbox: null,
  repos: null,
  timeoutMultiplier: 1,
  preflight: false,
  content: null,
  labels: {},
  provenance: null,
  created: '2026-01-02T03:04:05.678Z',
});

const trial = (task: string, verdict: Verdict, more: Partial<Trial> = {}): Trial => ({
  key: `${task}1`,
  suite: '',
  task,
  attempt: 1,
  agent: 'model',
  model: 'own:large',
  verdict,
  session: 's',
  tokens: 35,
  dollars: 0.25,
  seconds: { build: 1, agent: 2, verify: 3 },
  started: '2026-01-02T03:04:05.000Z',
  ...more,
});

const trajectory = JSON.stringify({
  final_metrics: { total_prompt_tokens: 30, total_completion_tokens: 5, total_cached_tokens: 10 },
});

/**
 * Writes a suite's files for one trial of its only task; returns their paths and a reader of them.
 */
function written(
  suite: string,
  data: string,
  verdict: Verdict,
  { kept = {}, by = {} }: { kept?: Record<string, string>; by?: Partial<Trial> } = {},
) {
  const out = join(folder, `${suite}-out-${++written.runs}`);
  const tasks = suiteNamed(suite).read(data);
  const id = tasks[0]?.id ?? '';
  const at = `trials/${id.replaceAll('/', '__')}.1`;
  const files = { 'trajectory.json': trajectory, ...kept };
  write(
    out,
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`${at}/${path}`, text])),
  );
  const record = { ...run(suite, data), ...by, tasks: [id] };
  const tries = suite === 'polyglot' ? [fail('no'), verdict] : undefined;
  writeNative(out, { run: record, tasks, trials: [trial(id, verdict, { tries, ...by })] });
  return {
    paths: readdirSync(join(out, 'native'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(out.length + 8))
      .toSorted(),
    read: (path: string) => readFileSync(join(out, 'native', path), 'utf8'),
  };
}

written.runs = 0;

const artifacts = (text: string) =>
  JSON.stringify({ entries: [{ path: '/app/solution.py', kind: 'file', bytes: btoa(text) }] });

it('human-eval: samples and results, as json.dumps writes them', () => {
  const data = humanEvalData(join(folder, 'human-eval'));
  const prompt = 'def double(n):\n    """Twice n."""\n';
  const { read } = written('human-eval', data, fail("NameError: name 'x' is not defined"), {
    kept: { 'solve/artifacts.json': artifacts(`${prompt}    return x`) },
  });
  const sample = '{"task_id": "Own/0", "completion": "    return x"';
  expect(read('samples.jsonl')).toBe(`${sample}}\n`);
  expect(read('samples.jsonl_results.jsonl')).toBe(
    `${sample}, "result": "failed: name 'x' is not defined", "passed": false}\n`,
  );
});

it('Aider: every field of .aider.results.json, where its statistics look', () => {
  const data = polyglotData(join(folder, 'polyglot'));
  const { paths, read } = written('polyglot', data, pass());
  const path =
    '2026-01-02-03-04-05--own__large/python/exercises/practice/twice/.aider.results.json';
  expect(paths).toEqual([path]);
  const { testdir, ...results } = JSON.parse(read(path)) as Record<string, unknown>;
  expect(testdir).toMatch(/python\/exercises\/practice\/twice$/);
  expect(JSON.stringify(results)).toBe(
    JSON.stringify({
      testcase: 'twice',
      model: 'own:large',
      edit_format: 'belay',
      tests_outcomes: [false, true],
      cost: 0.25,
      duration: 2,
      test_timeouts: 0,
      commit_hash: '',
      num_error_outputs: 0,
      num_user_asks: 0,
      num_exhausted_context_windows: 0,
      num_malformed_responses: 0,
      syntax_errors: 0,
      indentation_errors: 0,
      lazy_comments: 0,
      reasoning_effort: null,
      prompt_tokens: 30,
      completion_tokens: 5,
      thinking_tokens: null,
      chat_hashes: [],
    }),
  );
  expect(read(path)).toMatch(/"duration": 2\.0,\n[^]*\n\}$/);
});

it('SWE-Bench: the folder of an instance, with its report', () => {
  const data = sweBenchData(join(folder, 'swe-bench'));
  const verdict = pass('good', { tests: { 'test.js': 'PASSED' } });
  const { paths, read } = written('swe-bench', data, verdict, {
    kept: { 'solve/patch.diff': 'diff ä\n', 'solve/test-output.txt': 'log' },
  });
  const at = 'logs/run_evaluation/belay/own:large/own__twice-1';
  const files = ['eval.sh', 'patch.diff', 'report.json', 'run_instance.log', 'test_output.txt'];
  expect(paths).toEqual([
    ...files.map((name) => `${at}/${name}`),
    'own:large.belay.json',
    'predictions.jsonl',
  ]);
  expect(read('predictions.jsonl')).toBe(
    '{"instance_id": "own__twice-1", "model_name_or_path": "own:large", "model_patch": "diff \\u00e4\\n"}\n',
  );
  expect(JSON.stringify(JSON.parse(read(`${at}/report.json`)))).toBe(
    '{"own__twice-1":{"patch_is_None":false,"patch_exists":true,"patch_successfully_applied":true,"resolved":true,"infra_failure":false,"tests_status":{"FAIL_TO_PASS":{"success":["test.js"],"failure":[]},"PASS_TO_PASS":{"success":[],"failure":[]},"FAIL_TO_FAIL":{"success":[],"failure":[]},"PASS_TO_FAIL":{"success":[],"failure":[]}}}}',
  );
});

it('Terminal-Bench: results of the run and of its trial', () => {
  const data = terminalBenchData(join(folder, 'terminal-bench'));
  const verdict = fail('1 failed', 'wrong', {
    tests: { '/tests/t.py::test_a': 'PASSED', '/tests/t.py::test_b[x::y]': 'FAILED' },
  });
  const { paths, read } = written('terminal-bench', data, verdict);
  const id = '2026-01-02T03__04__05.678Z';
  expect(paths).toEqual([
    `runs/${id}/answer/answer.1-of-1.${id}/results.json`,
    `runs/${id}/results.json`,
    `runs/${id}/run_metadata.json`,
  ]);
  expect(JSON.parse(read(`runs/${id}/run_metadata.json`))).toMatchObject({
    run_id: id,
    agent_name: 'belay',
    model_name: 'own/large',
    task_ids: ['answer'],
    dataset_size: 1,
    accuracy: 0,
    start_time: '2026-01-02T03:04:05.678000+00:00',
    end_time: '2026-01-02T03:04:11.000000+00:00',
  });
  const { results, ...summary } = JSON.parse(read(`runs/${id}/results.json`)) as {
    results: object[];
  };
  expect(summary).toMatchObject({
    pass_at_k: {},
    n_resolved: 0,
    n_unresolved: 1,
    resolved_ids: [],
    unresolved_ids: ['answer'],
    accuracy: 0,
  });
  const single = JSON.parse(read(paths[0] ?? '')) as object;
  expect(results).toEqual([single]);
  expect(single).toMatchObject({
    task_id: 'answer',
    is_resolved: false,
    failure_mode: 'unset',
    recording_path: null,
    parser_results: { test_a: 'passed', 'test_b[x::y]': 'failed' },
    total_input_tokens: 30,
    trial_started_at: '2026-01-02T03:04:05.000000+00:00',
  });
});

describe('Harbor', () => {
  const data = harborData(join(folder, 'harbor'));

  it('has the job tree, with rewards as floats', () => {
    const verdict = pass('1', { reward: 1, rewards: { reward: 1 } });
    const { paths, read } = written('harbor', data, verdict, {
      kept: {
        'solve/artifacts.json': '{"entries":[]}',
        'solve/test-output.txt': 'log',
        'solve/verifier/reward.txt': '1\n',
      },
    });
    const job = 'jobs/2026-01-02__03-04-05';
    const name = paths.find((path) => path.endsWith('trial.log'))?.split('/')[2] ?? '';
    expect(name).toMatch(/^answer__[2-9A-HJ-NP-Za-km-z]{7}$/);
    const of = [
      'agent/trajectory.json',
      'artifacts/manifest.json',
      'config.json',
      'lock.json',
      'result.json',
      'trial.log',
      'verifier/reward.txt',
      'verifier/test-stdout.txt',
    ];
    const tree = [
      ...of.map((path) => `${job}/${name}/${path}`),
      `${job}/config.json`,
      `${job}/job.log`,
      `${job}/lock.json`,
      `${job}/result.json`,
    ];
    expect(paths).toEqual(tree.toSorted());
    expect(read(`${job}/job.log`)).toBe(`${name}: pass. 1\n`);
    expect(read(`${job}/${name}/verifier/reward.txt`)).toBe('1\n');
    expect(read(`${job}/${name}/result.json`)).toContain(
      '"verifier_result": {\n        "rewards": {\n            "reward": 1.0\n        }\n    }',
    );
    const { stats } = JSON.parse(read(`${job}/result.json`)) as { stats: { evals: object } };
    expect(stats.evals).toEqual({
      belay__large__harbor: {
        n_trials: 1,
        n_errors: 0,
        metrics: [{ mean: 1 }],
        pass_at_k: {},
        reward_stats: { reward: { '1.0': [name] } },
        exception_stats: {},
      },
    });
  });

  it('has the checksum of the task’s folder, and a report of its tests as CTRF', () => {
    const tests = { 't.py::a': 'PASSED', 't.py::b': 'SKIPPED' };
    const verdict = pass('1', { reward: 1, rewards: { reward: 1 }, tests });
    const { paths, read } = written('harbor', data, verdict, {
      kept: { 'solve/test-output.txt': 'log' },
    });
    const of = (end: string) => JSON.parse(read(paths.find((path) => path.endsWith(end)) ?? ''));
    expect(of('verifier/ctrf.json')).toMatchObject({
      results: {
        summary: { tests: 2, passed: 1, failed: 0, skipped: 1 },
        tests: [{ name: 't.py::a', status: 'passed' }, { status: 'skipped' }],
      },
    });
    const result = paths.find((path) => /__\w{7}\/result/.test(path)) ?? '';
    expect((JSON.parse(read(result)) as { task_checksum: string }).task_checksum).toMatch(
      /^[0-9a-f]{64}$/,
    );
  });

  it('distinguishes an error of a trial from a reward of 0', () => {
    const { read, paths } = written('harbor', data, invalid('no_result', 'There is no reward.'));
    const result = JSON.parse(
      read(paths.find((path) => /__\w{7}\/result/.test(path)) ?? ''),
    ) as object;
    expect(result).toMatchObject({
      verifier_result: null,
      exception_info: {
        exception_type: 'RewardFileNotFoundError',
        exception_message: 'There is no reward.',
      },
    });
  });

  it('locks the content of each task, without the fields that are not set', () => {
    const verdict = pass('1', { reward: 1, rewards: { reward: 1 } });
    const { paths, read } = written('harbor', data, verdict);
    const of = (end: RegExp) =>
      JSON.parse(read(paths.find((path) => end.test(path)) ?? '')) as object;
    const lock = of(/__\w{7}\/lock\.json$/);
    expect(lock).toMatchObject({
      schema_version: 2,
      task: { name: 'answer', type: 'local', source: 'harbor', path: join(data, 'answer') },
      agent: { name: 'belay', model_name: 'own/large' },
      verifier: { disable: false, environment_mode: 'shared' },
    });
    expect(JSON.stringify(lock)).not.toContain('null');
    expect(of(/04-05\/lock\.json$/)).toMatchObject({
      schema_version: 3,
      created_at: '2026-01-02T03:04:05.678000Z',
      harbor: {},
      n_concurrent_trials: 4,
      trials: [lock],
    });
  });

  it('names the evaluation of one task as Harbor does, and keeps the oracle’s output', () => {
    const verdict = pass('1', { reward: 1, rewards: { reward: 1 } });
    const by = { agent: 'oracle', model: null };
    const { paths, read } = written('harbor', join(data, 'answer'), verdict, {
      kept: { 'solve/agent-output.txt': 'solved\n' },
      by,
    });
    const job = 'jobs/2026-01-02__03-04-05';
    const { stats } = JSON.parse(read(`${job}/result.json`)) as { stats: { evals: object } };
    expect(Object.keys(stats.evals)).toEqual(['oracle__adhoc']);
    expect(JSON.parse(read(`${job}/config.json`))).toMatchObject({
      datasets: [],
      tasks: [{ path: join(data, 'answer') }],
    });
    expect(read(paths.find((path) => path.endsWith('agent/oracle.txt')) ?? '')).toBe('solved\n');
    const folderOfTasks = written('harbor', data, verdict, {
      kept: { 'solve/agent-output.txt': 'solved\n' },
    });
    expect(folderOfTasks.paths.some((path) => path.endsWith('oracle.txt'))).toBe(false);
    expect(JSON.parse(folderOfTasks.read(`${job}/config.json`))).toMatchObject({
      datasets: [{ path: data }],
      tasks: [],
    });
  });

  it('counts only valid rewards in its statistics', () => {
    const verdict = fail('late', 'verifier_timeout', { rewards: { reward: 1 } });
    const { read } = written('harbor', data, verdict);
    const { stats } = JSON.parse(read('jobs/2026-01-02__03-04-05/result.json')) as {
      stats: { evals: object };
    };
    expect(Object.values(stats.evals)).toEqual([
      expect.objectContaining({ n_trials: 0, n_errors: 1, metrics: [], reward_stats: {} }),
    ]);
  });
});
