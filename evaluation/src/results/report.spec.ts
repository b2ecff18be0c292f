import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareTrials } from '../compare.js';
import { fail, pass, type Trial, type Verdict } from '../model.js';
import { suiteNamed } from '../suites/index.js';
import { humanEvalData, temporary, write } from '../testing/fixtures.js';
import { trialLine } from './journal.js';
import { countedTrials, writeReport } from './report.js';
import type { RunFile } from './run-file.js';
import { summarizeRun } from './summary.js';

const { folder, remove } = temporary();
afterAll(remove);

const run: RunFile = {
  version: 1,
  suite: 'human-eval',
  data: humanEvalData(join(folder, 'data')),
  agent: 'command:true',
  model: null,
  tasks: ['python/a', 'python/b', 'cpp/c'],
  unattempted: ['cpp/d'],
  attempts: 1,
  concurrency: 1,
  network: 'none',
  places: ['this-machine'],
  sessionLabels: {},
  buildNetwork: 'default',
  fromMap: [],
  sandbox: null,
  repos: null,
  timeoutMultiplier: 1,
  preflight: false,
  content: 'abc123',
  labels: {
    'python/a': { language: 'python' },
    'python/b': { language: 'python' },
    'cpp/c': { language: 'cpp' },
    'cpp/d': { language: 'cpp' },
  },
  provenance: {
    version: '0.1.0',
    node: 'v24.0.0',
    host: { name: 'bench', system: 'linux', processor: 'x86', cpus: 2, memoryMb: 4096 },
    engine: 'Docker 20',
  },
  created: '2026-01-02T03:04:05.678Z',
};

const trial = (task: string, verdict: Verdict): Trial => ({
  key: task,
  suite: 'human-eval',
  task,
  attempt: 1,
  agent: run.agent,
  model: null,
  verdict,
  session: null,
  image: { name: 'belay/evaluation-base:1', id: 'sha256:0123' },
  tokens: 0,
  dollars: 0,
  seconds: { build: 0, agent: 0, verify: 0 },
  started: run.created,
});

const trials = [
  trial('python/a', pass('good', { flags: ['1 of 2 tests have a different result.'] })),
  trial('python/b', fail('<wrong>')),
  trial('cpp/c', pass()),
];

it('has the score by language, in which tasks not attempted count as 0', () => {
  const { groups, doubtful, missing } = summarizeRun(run, trials, { validity: null });
  expect(groups).toEqual([
    { label: 'language', name: 'cpp', tasks: 2, passed: 1, score: 0.5 },
    { label: 'language', name: 'python', tasks: 2, passed: 1, score: 0.5 },
  ]);
  expect(missing).toEqual(['cpp/d']);
  expect(doubtful).toEqual([
    { task: 'python/a', attempt: 1, why: '1 of 2 tests have a different result.' },
  ]);
  const alone = { ...run, labels: { 'python/a': { language: 'python' } } };
  expect(summarizeRun(alone, trials, { validity: null }).groups).toEqual([]);
});

it('shows failures first, then tasks not attempted, doubts, the agent’s log and the provenance', () => {
  const out = write(join(folder, 'out'), {
    'run.json': JSON.stringify(run),
    'results.jsonl': trials.map(trialLine).join(''),
    'trials/python__b.1/solve/agent-output.txt': 'what it said',
  });
  const data = suiteNamed(run.suite).read(run.data);
  writeReport(out, { run, data, server: null });
  const page = readFileSync(join(out, 'report.html'), 'utf8');
  const at = (text: string) => {
    expect(page).toContain(text);
    return page.indexOf(text);
  };
  expect(at('<td>python/b<td>')).toBeLessThan(at('<td>python/a<td>'));
  expect(at('<td>python/b<td>')).toBeLessThan(at('<td>cpp/d<td><td>not attempted'));
  expect(at('<td>cpp/d<td><td>not attempted')).toBeLessThan(at('<td>python/a<td>'));
  at('&#60;wrong&#62;');
  at('1 pass is doubtful');
  at('<a href="trials/python__b.1/solve/agent-output.txt">agent’s log</a>');
  at('<td>cpp<td>1 of 2<td>50.0%');
  expect(page).not.toMatch(/changed since/);
  for (const part of ['hash abc123', 'tasks: none; builds: default', 'bench: linux', 'sha256:0123'])
    at(part);
});

describe('the interval', () => {
  const tasks = ['python/a', 'python/b', 'cpp/c', 'cpp/d'];
  const whole = { ...run, tasks, unattempted: [] };
  const intervalOf = (attempts: number, outcomes: (task: string, attempt: number) => Verdict) => {
    const all = tasks.flatMap((task) =>
      Array.from({ length: attempts }, (_, at) => ({
        ...trial(task, outcomes(task, at)),
        attempt: at + 1,
      })),
    );
    return summarizeRun({ ...whole, attempts }, all, { validity: null }).interval;
  };

  it('has tasks as its unit: more attempts at the same tasks do not narrow it', () => {
    const halves = (task: string) => (task.startsWith('python') ? pass() : fail('wrong'));
    const once = intervalOf(1, halves);
    expect(once).toEqual([expect.closeTo(0.15, 2), expect.closeTo(0.85, 2)]);
    expect(intervalOf(5, halves)).toEqual(once);
    expect(intervalOf(2, (_task, at) => (at === 0 ? pass() : fail('wrong')))).toEqual(once);
  });

  it('is that of the score, which counts partial rewards', () => {
    expect(intervalOf(1, () => ({ ...fail('wrong'), reward: 0.5 }))).toEqual(
      intervalOf(1, (task) => (task.startsWith('python') ? pass() : fail('wrong'))),
    );
  });
});

describe('a report of results that', () => {
  const data = suiteNamed(run.suite).read(run.data);
  let made = 0;
  const reported = (results: string) => {
    const out = write(join(folder, `edited-${++made}`), {
      'run.json': JSON.stringify(run),
      'results.jsonl': results,
    });
    const summary = writeReport(out, { run, data, server: null });
    return { summary, page: readFileSync(join(out, 'report.html'), 'utf8') };
  };
  const recorded = trials.map(trialLine);

  it('have been changed by hand names them', () => {
    const edited = recorded.map((line) => line.replace('"outcome":"fail"', '"outcome":"pass"'));
    const { summary, page } = reported(edited.join(''));
    expect(summary.edited).toEqual([{ task: 'python/b', attempt: 1 }]);
    expect(page).toContain('1 trial has changed since it was recorded');
    const added = `${JSON.stringify(trials[1])}\n`;
    expect(reported(added).summary.edited).toHaveLength(1);
    expect(reported(recorded.join('')).summary.edited).toEqual([]);
  });

  it('contain other line ends of Unicode does not call them changed', () => {
    const printed = trialLine(trial('python/b', fail('one\u2028two\u2029three')));
    expect(reported(printed).summary.edited).toEqual([]);
    const edited = printed.replace('"outcome":"fail"', '"outcome":"pass"');
    expect(reported(edited).summary.edited).toEqual([{ task: 'python/b', attempt: 1 }]);
  });

  it('are not complete says so first', () => {
    expect(reported(recorded.slice(1).join('')).page).toContain(
      '<p class="score">Not finished: 2 of 3 trials <small>',
    );
    expect(reported(recorded.join('')).page).toContain('<p class="score">50.0% <small>');
  });
});

it('a comparison reports the changed trials only among those that count', () => {
  const recorded = trialLine(trial('python/a', fail('wrong')));
  const changed = recorded.replace('"outcome":"fail"', '"outcome":"pass"');
  let made = 0;
  const editedIn = (results: string[], regraded: string[] = []) => {
    const out = write(join(folder, `compared-${++made}`), {
      'results.jsonl': results.join(''),
      'regraded.jsonl': regraded.join(''),
    });
    const run = { ...countedTrials(out), validity: null };
    return compareTrials(run, run).edited / 2;
  };
  expect(editedIn([changed])).toBe(1);
  expect(editedIn([changed, recorded])).toBe(0);
  expect(editedIn([changed], [recorded])).toBe(0);
  expect(editedIn([recorded], [changed])).toBe(1);
});
