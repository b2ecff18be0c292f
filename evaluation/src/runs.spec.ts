import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerTasks } from '@belay/containers';
import { BelayServer, run, script } from '@belay/testkit';
import { defaultFromMap, Images } from './engine/images.js';
import { compareRuns, regradeRun, resumeRun, startRun } from './evaluation.js';
import { readTrials } from './results/journal.js';
import { pythonLines } from './results/native/python-json.js';
import { doubling, sweBenchData, temporary, write } from './testing/fixtures.js';

const { folder, remove } = temporary();
const sandbox = process.env.BELAY_TEST_IMAGE ?? null;
const images = new Images({ engine: new DockerTasks(), sandbox, fromMap: defaultFromMap });
beforeAll(
  () => images.ensure({ kind: 'toolchain', name: 'base' }, AbortSignal.timeout(280_000)),
  300_000,
);
afterAll(remove);

const never = { signal: new AbortController().signal };
const problems = ['a', 'b'].map((name) => ({ ...doubling, task_id: `Own/${name}` }));
const samples = problems.map(({ task_id }, index) => ({
  task_id,
  completion: index < 1 ? doubling.canonical_solution : '    return n\n',
}));
const jsonl = (values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const data = write(join(folder, 'data'), {
  'human-eval.jsonl': jsonl(problems),
  'samples.jsonl': jsonl(samples),
});
const request = (out: string) => ({
  suite: 'human-eval',
  data: join(data, 'human-eval.jsonl'),
  agent: `predictions:${join(data, 'samples.jsonl')}`,
  out: join(folder, out),
  sandbox: sandbox ?? undefined,
});
const timeless = (summary: object) => ({ ...summary, created: 0, seconds: 0 });

it('an interrupted run resumes to the same report', async () => {
  const whole = await startRun(request('whole'), never);
  expect(whole).toMatchObject({ passed: 1, failed: 1, score: 1 / 2, trials: { done: 2, all: 2 } });
  const stop = new AbortController();
  const cut = startRun(
    { ...request('cut'), concurrency: 1 },
    {
      signal: stop.signal,
      onTrial: () => stop.abort(new Error('cut off')),
    },
  );
  await expect(cut).rejects.toThrow('cut off');
  const results = join(folder, 'cut/results.jsonl');
  const before = readTrials(results).trials;
  expect(before).toHaveLength(1);
  appendFileSync(results, '{"key":"a line that was cut sh');
  const resumed = await resumeRun(join(folder, 'cut'), never);
  expect(timeless(resumed)).toEqual(timeless(whole));
  expect(readTrials(results).trials.slice(0, before.length)).toEqual(before);
  const native = (out: string) => readFileSync(join(folder, out, 'native/samples.jsonl'), 'utf8');
  expect(native('cut')).toBe(native('whole'));
  expect(native('whole')).toBe(pythonLines(samples));
  expect(readFileSync(join(folder, 'cut/report.html'), 'utf8')).toContain('50.0%');
});

it('attacks: a run does not resume with other data under the same names', async () => {
  const path = join(write(join(folder, 'moving'), { 'h.jsonl': jsonl([doubling]) }), 'h.jsonl');
  const out = join(folder, 'moved');
  await startRun({ ...request('moved'), data: path, agent: 'nop' }, never);
  const easy = { ...doubling, test: 'def check(candidate):\n    pass\n' };
  write(join(folder, 'moving'), { 'h.jsonl': jsonl([easy]) });
  await expect(resumeRun(out, never)).rejects.toThrow(/has changed since this run began/);
  write(join(folder, 'moving'), { 'h.jsonl': jsonl([doubling]) });
  expect(await resumeRun(out, never)).toMatchObject({ failed: 1 });
  expect(() => compareRuns(out, join(folder, 'whole'))).toThrow('no tasks in common');
});

it('stored artifacts are graded again without an agent, and runs are compared', async () => {
  await startRun({ ...request('oracle'), agent: 'oracle' }, never);
  const regraded = await regradeRun(join(folder, 'whole'), never);
  expect(regraded).toMatchObject({ passed: 1, failed: 1 });
  expect(compareRuns(join(folder, 'whole'), join(folder, 'oracle'))).toMatchObject({
    tasks: 2,
    a: 1 / 2,
    b: 1,
    difference: 1 / 2,
    better: ['Own/b'],
    worse: [],
    p: 1,
  });
});

describe('a model', () => {
  const server = new BelayServer();
  beforeAll(() => server.start());
  afterAll(() => server.dispose());

  it('fixes a repository that comes as files, and its patch has the changes', async () => {
    const data = sweBenchData(join(folder, 'repository'));
    const model = script(server.data, [
      { calls: [run("sed -i 's/n + n + 1/n + n/' main.js")] },
      { finish: 'done' },
    ]);
    const out = join(folder, 'patched');
    const connect = () => ({ client: server.client, url: server.url });
    const asked = { suite: 'swe-bench', data, agent: 'model', out, sandbox: sandbox ?? undefined };
    expect(await startRun({ ...asked, model }, { ...never, connect })).toMatchObject({ passed: 1 });
    const patch = readFileSync(join(out, 'trials/own__twice-1.1/solve/patch.diff'), 'utf8');
    expect(patch).toContain('+const twice = (n) => n + n;');
    const unknown = { ...asked, out: join(folder, 'unknown-model'), model: 'nobody:x' };
    await expect(startRun(unknown, { ...never, connect })).rejects.toThrow(
      /^There is no model nobody:x\. Name one as PROVIDER:MODEL, where PROVIDER is one of openai, /,
    );
  });
});
