import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHmac } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import { proofFile, type VerifierOutput, type Task } from '../model.js';
import {
  doubling,
  harborData,
  humanEvalData,
  polyglotData,
  sweBenchData,
  temporary,
  terminalBenchData,
  write,
} from '../testing/fixtures.js';
import { fileEntry } from '../entries.js';
import { judgeReward, writableRewards, type WritableRewards } from './harbor-reward.js';
import { suiteNamed } from './index.js';
import { readFolders } from './reading.js';
import { judgeInstance } from './swe-bench/logs.js';
import { instanceOutput } from '../testing/instance-output.js';
import type { Instance } from './swe-bench/instance.js';
import { judgePytest } from './terminal-bench.js';
import { judgeSealed, sealedReport } from './seal.js';
import type { TestResult } from './test-log.js';
import { junitCounts } from './test-reports.js';

const { folder, remove } = temporary();
afterAll(remove);
const at = (name: string) => join(folder, name);

const makers = {
  'human-eval': humanEvalData,
  polyglot: polyglotData,
  'terminal-bench': terminalBenchData,
  harbor: harborData,
  'swe-bench': sweBenchData,
};

/** Everything that an agent can see: its image’s context, its files and the instruction. */
function visible({ environment, steps }: Task): string {
  const context = environment.image.kind === 'build' ? environment.image.files : [];
  const files = [...context, ...steps.flatMap((step) => step.files)];
  return [...files.map(({ path, bytes }) => path + bytes.toString()), steps[0]?.instruction].join();
}

it.each(Object.entries(makers))('%s: the agent sees neither tests nor solution', (suite, make) => {
  const [task] = suiteNamed(suite).read(make(at(suite)));
  expect(visible(task!)).not.toMatch(/assert|return 2|42|test_answer|solve\.sh|n \+ n;/);
  expect(JSON.stringify(task)).toMatch(/verifier/);
});

it('reads the same tasks from a gzipped file and from a packed folder', () => {
  mkdirSync(at('packed'));
  writeFileSync(at('packed/HumanEval.jsonl.gz'), gzipSync(JSON.stringify(doubling)));
  const [plain] = suiteNamed('human-eval').read(at('human-eval'));
  const [zipped] = suiteNamed('human-eval').read(at('packed'));
  expect(zipped!.content).toBe(plain!.content);
  const files = [...readFolders(polyglotData(at('folders')), '.meta/config.json')[0]!.files];
  const texts = Object.fromEntries(files.map(([path, { bytes }]) => [path, bytes.toString()]));
  write(at('archive'), { 'tasks.jsonl': JSON.stringify({ task: 'python/twice', files: texts }) });
  const content = (name: string) => suiteNamed('polyglot').read(at(name))[0]!.content;
  expect(content('archive')).toBe(content('folders'));
});

it('reports faults in data', () => {
  expect(() => suiteNamed('polyglot').read(at('nowhere'))).toThrow('does not exist');
  write(at('bad'), { 'x.jsonl': '{"a":1}\nno json\n' });
  expect(() => suiteNamed('swe-bench').read(at('bad'))).toThrow('line 2, is not JSON');
  expect(() => suiteNamed('chess')).toThrow('There is no suite chess');
});

const outcome = (more: Partial<VerifierOutput>): VerifierOutput => ({
  exitCode: 0,
  output: '',
  files: new Map(),
  ...more,
});
const report = (tests: number, failures: number) =>
  Buffer.from(
    `<testsuites><testsuite name="x" errors="0" failures="${failures}" tests="${tests}">`,
  );

const sealed = (results: TestResult[], key = 'key'): string => {
  const tests = Object.fromEntries(results.map((result, index) => [`t${index}`, result]));
  const text = deflateSync(JSON.stringify({ tests, errors: 0 })).toString('base64');
  return `\nbelay-seal ${createHmac('sha256', key).update(text).digest('hex')} ${text}\n`;
};
const withKey = (output: string, more: Partial<VerifierOutput> = {}): VerifierOutput =>
  outcome({
    output,
    ...more,
    files: new Map([...(more.files ?? []), [proofFile, Buffer.from('key')]]),
  });

it('counts the tests in reports of JUnit', () => {
  expect(junitCounts(report(3, 1))).toEqual({ tests: 3, failed: 1 });
  expect(junitCounts(Buffer.from('no xml'))).toBeUndefined();
});

describe('attacks: reports of a test runner', () => {
  const passing: TestResult[] = ['PASSED', 'PASSED'];

  it('only the first one with the seal of this verification counts', () => {
    const failing: TestResult[] = ['PASSED', 'FAILED'];
    const changed = sealed(failing).replace(/ [^ ]+\n$/, sealed(passing).slice(-40));
    for (const output of [
      '',
      sealed(passing, 'another key'),
      sealed(passing, ''),
      changed,
      sealed(failing) + sealed(passing),
      `x${sealed(passing).trim()}`,
    ])
      expect(judgeSealed(withKey(output)).outcome).toBe('fail');
    expect(judgeSealed(outcome({ output: sealed(passing, '') })).outcome).toBe('fail');
    expect(judgeSealed(withKey(`some text${sealed(passing)}more`)).outcome).toBe('pass');
    expect(sealedReport(withKey(sealed(failing)))?.tests).toEqual({ t0: 'PASSED', t1: 'FAILED' });
  });

  it('must agree with the exit code, and have a test that passed', () => {
    expect(judgeSealed(withKey(sealed(passing), { exitCode: 1 })).outcome).toBe('fail');
    expect(judgeSealed(withKey(sealed(['SKIPPED', 'XFAIL']))).outcome).toBe('invalid');
    expect(judgeSealed(withKey(sealed([]))).outcome).toBe('invalid');
  });
});

it('Terminal-Bench: the summary must list tests, all passed, and agree with the report', () => {
  const summary = (lines: string) => `=== short test summary info ===\n${lines}\n`;
  const judge = (lines: string, found?: TestResult[], exitCode = 0) =>
    judgePytest(withKey(`${found ? sealed(found) : ''}${summary(lines)}`, { exitCode }));
  const three: TestResult[] = ['PASSED', 'SKIPPED', 'XFAIL'];
  expect(judge('PASSED a::b\nSKIPPED c\nXFAIL d', three).outcome).toBe('pass');
  expect(judge('PASSED a::b\nSKIPPED c\nXFAIL d', three, 137).cause).toBe('no_result');
  expect(judge('PASSED a::b\nFAILED c - no', ['PASSED', 'FAILED']).outcome).toBe('fail');
  expect(judge('PASSED a::b').cause).toBe('no_result');
  expect(judge('PASSED a::b\nPASSED c', ['PASSED']).cause).toBe('no_result');
  expect(judge('', []).cause).toBe('no_result');
  expect(judgePytest(outcome({ output: 'PASSED a' })).cause).toBe('no_result');
});

it('Harbor: reward.json wins, and a missing reward is not 0', () => {
  const anything = { json: true, numbers: null };
  const judge = (files: Record<string, string>, writable: WritableRewards = anything) =>
    judgeReward(
      outcome({
        files: new Map(
          Object.entries(files).map(([name, text]) => [
            `/logs/verifier/${name}`,
            Buffer.from(text),
          ]),
        ),
      }),
      { usesPytest: false, writable },
    );
  expect(judge({ 'reward.txt': '1\n' })).toMatchObject({ outcome: 'pass', reward: 1 });
  expect(judge({ 'reward.txt': '1', 'reward.json': '{"reward": 0.5}' })).toMatchObject({
    outcome: 'fail',
    reward: 0.5,
  });
  expect(judge({ 'reward.txt': '1000' })).toMatchObject({ reward: 1, rewards: { reward: 1000 } });
  for (const files of [{}, { 'reward.txt': '' }, { 'reward.txt': 'good' }])
    expect(judge(files as Record<string, string>).outcome).toBe('invalid');
  const plain = writableRewards([
    fileEntry(
      'test.sh',
      '# reward.txt\nif [ $? -eq 0 ]; then echo 1; else echo "0"; fi > /l/reward.txt\n',
    ),
  ]);
  expect(plain).toEqual({ json: false, numbers: new Set([1, 0]) });
  expect(judge({ 'reward.txt': '1', 'reward.json': '{"reward": 0}' }, plain).outcome).toBe('pass');
  expect(judge({ 'reward.txt': '0' }, plain)).toMatchObject({ outcome: 'fail', cause: 'wrong' });
  for (const reward of ['0.99', '2', '-1'])
    expect(judge({ 'reward.txt': reward }, plain)).toMatchObject({ reward: 0, cause: 'no_result' });
  for (const line of ['echo "$score" > reward.txt', 'echo $(bc) > reward.txt', 'fi > reward.txt'])
    expect(writableRewards([fileEntry('test.sh', line)]).numbers).toBeNull();
});

describe('SWE-bench', () => {
  const instance = {
    FAIL_TO_PASS: ['a'],
    PASS_TO_PASS: ['b'],
    eval_type: 'pass_and_fail',
  } as Instance;
  const judge = (parser: Partial<Instance>, text: string, exitCode = 0) =>
    judgeInstance({ ...instance, ...parser }, instanceOutput(text, exitCode));

  it('Prism’s reports end where the next line of the shell begins', () => {
    const report = { stats: {}, passes: [{ fullTitle: 'a' }, { fullTitle: 'b' }], failures: [] };
    const text = `${JSON.stringify(report, undefined, 2)}+ belay_code=0`;
    expect(judge({ log_parser: 'parse_log_prismjs' }, text).outcome).toBe('pass');
  });

  it('ids that are cut off within their parameters stand for all that start with them', () => {
    const cut = { log_parser: 'parse_log_pytest', FAIL_TO_PASS: ['a[log(x'], PASS_TO_PASS: [] };
    expect(judge(cut, 'PASSED a[log(x)-1]\nPASSED a[log(x)-2]').outcome).toBe('pass');
    expect(judge(cut, 'PASSED a[log(x)-1]\nFAILED a[log(x)-2]', 1).outcome).toBe('fail');
    expect(judge({ ...cut, FAIL_TO_PASS: ['a'] }, 'PASSED a[1]').outcome).toBe('fail');
  });

  it('requires every FAIL_TO_PASS to pass, while a PASS_TO_PASS may be skipped', () => {
    const pytest = { log_parser: 'parse_log_pytest' };
    expect(judge(pytest, 'PASSED a\nSKIPPED b').outcome).toBe('pass');
    expect(judge(pytest, 'SKIPPED a\nPASSED b').outcome).toBe('fail');
    expect(judge(pytest, 'PASSED a').outcome).toBe('fail');
    expect(judge(pytest, '').cause).toBe('no_result');
    expect(judge(pytest, 'PASSED a\nPASSED b', 1).cause).toBe('no_result');
  });

  it('accepts a parser of failures only if the suite ran', () => {
    const marked = { log_parser: 'parse_log_marked', eval_type: 'fail_only' as const };
    expect(judge(marked, '12 specs, 0 failures').outcome).toBe('pass');
    expect(judge(marked, '1) a\n12 specs, 1 failure', 1).outcome).toBe('fail');
    expect(judge(marked, 'nothing ran').cause).toBe('no_result');
    expect(judge(marked, '12 specs, 0 failures', 1).cause).toBe('no_result');
  });

  it('a failure whose title names an error swallows no other failure', () => {
    const eslint = { log_parser: 'parse_log_eslint', eval_type: 'fail_only' as const };
    const lines = (title: string) =>
      `  7 passing (1s)\n  1) ${title}:\n     expected 1 to be 2\n\n  2) a\n     AssertionError: no\n`;
    expect(judge(eslint, lines('throws an Error'), 2).outcome).toBe('fail');
    expect(judge(eslint, '  7 passing (1s)\n  1) c\n     AssertionError: no\n', 1).outcome).toBe(
      'pass',
    );
  });

  it('reads a log with the line ends of Windows', () => {
    const jest = { log_parser: 'parse_log_carbon' };
    expect(judge(jest, 'PASS a\r\nPASS b\r\n').outcome).toBe('pass');
  });
});
