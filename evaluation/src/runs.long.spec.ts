import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerTasks } from '@belay/containers';
import { AppError } from '@belay/protocol';
import { BelayServer, run, script } from '@belay/testkit';
import { defaultFromMap, Images } from './engine/images.js';
import { compareRuns, preflightRun, rebuildReport, regradeRun, startRun } from './evaluation.js';
import type { Trial } from './model.js';
import { readTrials } from './results/journal.js';
import { doubling, polyglotData, temporary, write } from './testing/fixtures.js';
import type { Validity } from './validity.js';

const { folder, remove } = temporary();
const sandbox = process.env.BELAY_TEST_IMAGE ?? null;
const images = new Images({ engine: new DockerTasks(), sandbox, fromMap: defaultFromMap });
beforeAll(
  () => images.ensure({ kind: 'toolchain', name: 'base' }, AbortSignal.timeout(280_000)),
  300_000,
);
afterAll(remove);

const never = { signal: new AbortController().signal };
const jsonl = (values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

it('reports the known preflight results before the trials, and checks the rest on request', async () => {
  const idle = { ...doubling, task_id: 'Own/idle', test: 'def check(candidate):\n    pass\n' };
  const path = join(write(join(folder, 'some'), { 'h.jsonl': jsonl([doubling, idle]) }), 'h.jsonl');
  const cache = join(folder, 'cache-of-run');
  const known: unknown[] = [];
  const checks: string[] = [];
  const options = {
    ...never,
    cache,
    onCheck: ({ task, agent }: Trial) => checks.push(`${task} ${agent}`),
    onTrial: ({ task }: Trial) => checks.push(task),
    onValidity: (found: Validity[], tasks: number) =>
      known.push([found.map(({ task, valid }) => [task, valid]), tasks]),
  };
  const ask = (out: string, more: object) =>
    startRun(
      {
        suite: 'human-eval',
        data: path,
        agent: 'nop',
        out: join(folder, out),
        sandbox: sandbox ?? undefined,
        concurrency: 1,
        ...more,
      },
      options,
    );
  expect(await ask('unknown', { tasks: ['Own/0'] })).toMatchObject({
    validity: null,
    validScore: null,
  });
  expect(await ask('asked', { tasks: ['Own/0'], preflight: true })).toMatchObject({
    validity: { checked: 1, flagged: [] },
    validScore: 0,
  });
  expect(await ask('partly', {})).toMatchObject({
    score: 0.5,
    validity: { checked: 1, flagged: [] },
    validScore: 0,
  });
  expect(await ask('all', { preflight: true })).toMatchObject({
    validity: { checked: 2, flagged: [{ task: 'Own/idle' }] },
    validScore: 0,
  });
  expect(known).toEqual([
    [[], 1],
    [[['Own/0', true]], 1],
    [[['Own/0', true]], 2],
    [
      [
        ['Own/0', true],
        ['Own/idle', false],
      ],
      2,
    ],
  ]);
  expect(checks).toEqual(
    [
      ['Own/0'],
      ['Own/0 oracle', 'Own/0 nop', 'Own/0'],
      ['Own/0', 'Own/idle'],
      ['Own/idle oracle', 'Own/idle nop', 'Own/0', 'Own/idle'],
    ].flat(),
  );
  expect(compareRuns(join(folder, 'unknown'), join(folder, 'all'))).toMatchObject({
    tasks: 1,
    validity: { checked: 1, flagged: [] },
    unflagged: null,
  });
  expect(compareRuns(join(folder, 'partly'), join(folder, 'all'))).toMatchObject({
    validity: { checked: 2, flagged: ['Own/idle'] },
    unflagged: { tasks: 1, difference: 0 },
  });
});

it('preflight flags a task that `nop` passes, and uses its cache the next time', async () => {
  const idle = { ...doubling, task_id: 'Own/idle', test: 'def check(candidate):\n    pass\n' };
  const path = join(
    write(join(folder, 'flagged'), { 'h.jsonl': jsonl([doubling, idle]) }),
    'h.jsonl',
  );
  const out = join(folder, 'checked');
  await startRun(
    { suite: 'human-eval', data: path, agent: 'nop', out, sandbox: sandbox ?? undefined },
    never,
  );
  const cache = join(folder, 'cache');
  const found = () => JSON.parse(readFileSync(join(out, 'validity.json'), 'utf8')) as Validity[];
  const summary = await preflightRun(out, { ...never, cache });
  expect(found().map(({ valid }) => valid)).toEqual([true, false]);
  expect(found()[1]?.why).toContain('An agent that does nothing passes');
  expect(summary).toMatchObject({ validity: { checked: 2, flagged: [{ task: 'Own/idle' }] } });
  expect(readdirSync(cache)).toHaveLength(2);
  const trials = () => readFileSync(join(out, 'preflight/oracle/results.jsonl'), 'utf8');
  const before = [trials(), found()];
  await preflightRun(out, { ...never, cache });
  expect([trials(), found()]).toEqual(before);
});

it('the multiplier of a run applies to every limit', async () => {
  const path = join(
    write(join(folder, 'endless'), {
      'h.jsonl': jsonl([{ ...doubling, canonical_solution: '    while True: pass\n' }]),
    }),
    'h.jsonl',
  );
  const out = join(folder, 'impatient');
  await startRun(
    {
      suite: 'human-eval',
      data: path,
      agent: 'oracle',
      out,
      sandbox: sandbox ?? undefined,
      timeoutMultiplier: 0.125,
    },
    never,
  );
  const [trial] = readTrials(join(out, 'results.jsonl')).trials;
  expect(trial?.verdict).toMatchObject({
    cause: 'verifier_timeout',
    detail: 'The tests took longer than 1 s.',
  });
});

it('attacks: tasks without a prediction count as 0, and the report says so', async () => {
  const path = join(
    write(join(folder, 'few'), {
      'mbpp.jsonl': jsonl(
        [1, 2, 3, 4].map((task_id) => ({
          task_id,
          prompt: '',
          code: 'def double(n):\n    return 2 * n\n',
          test_list: ['assert double(4) == 8'],
        })),
      ),
      'answers.jsonl': jsonl([{ task_id: 2, solution: 'def double(n):\n    return 2 * n\n' }]),
    }),
    'mbpp.jsonl',
  );
  const agent = `predictions:${join(folder, 'few/answers.jsonl')}`;
  const summary = await startRun(
    {
      suite: 'mbpp',
      data: path,
      agent,
      out: join(folder, 'partial'),
      sandbox: sandbox ?? undefined,
    },
    never,
  );
  expect(summary).toMatchObject({ score: 0.25, passed: 1, tasks: 4, notAttempted: 3 });
  expect(summary.passAt).toEqual({ 'pass@1': 0.25 });
  expect(readFileSync(join(folder, 'partial/report.html'), 'utf8')).toContain(
    '3 of 4 tasks were not attempted: they count as 0.',
  );
});

describe('a model', () => {
  const server = new BelayServer();
  beforeAll(() => server.start());
  afterAll(() => server.dispose());

  it('works in a session of the server, with two tries for an exercise', async () => {
    const data = polyglotData(join(folder, 'polyglot'));
    const model = script(server.data, [
      { calls: [run("printf 'def twice(n):\\n    return n\\n' > twice.py")] },
      { finish: 'first' },
      { calls: [run("sed -i 's/return n/return n + n/' twice.py")] },
      { finish: 'second' },
    ]);
    const out = join(folder, 'model');
    const connect = () => ({ client: server.client, url: server.url });
    const notices: string[] = [];
    const summary = await startRun(
      { suite: 'polyglot', data, agent: 'model', model, out, sandbox: sandbox ?? undefined },
      { ...never, connect, onNotice: (sentence) => notices.push(sentence) },
    );
    expect(summary).toMatchObject({ passed: 1, passRates: { pass_rate_1: 0, pass_rate_2: 100 } });
    const [trial] = readTrials(join(out, 'results.jsonl')).trials;
    const session = await server.client.sessions.get(trial!.session!);
    const said = await server.client.sessions.events(session.id);
    const second = said.findLast(({ action }) => action === 'message');
    expect(second?.message).toMatch(/assert 4 == 8[^]*See the testing errors above/);
    expect(session).toMatchObject({
      state: 'finished',
      archived: true,
      tags: ['evaluation', 'polyglot'],
    });
    expect(readFileSync(join(out, 'report.html'), 'utf8')).toContain(`/sessions/${session.id}`);
    const record = readFileSync(join(out, 'trials/python__twice.1/trajectory.json'), 'utf8');
    expect(record).toMatch(/"function_name": "terminal.run"/);
    const native = readdirSync(join(out, 'native'), { recursive: true }).map(String);
    expect(
      native.find((path) => path.endsWith('practice/twice/.aider.results.json')),
    ).toBeDefined();
    expect(record).toMatch(/"total_prompt_tokens": [1-9]/);

    const none = () => {
      throw new AppError('unavailable', 'No Belay server runs here.');
    };
    const told: string[] = [];
    // No model is called, so no server is needed.
    await regradeRun(out, { ...never, connect: none, onNotice: (sentence) => told.push(sentence) });
    expect(told).toEqual(['There is no live board: No Belay server runs here.']);
    expect(rebuildReport(out, { connect })).toMatchObject({ passed: 1 });
    expect(readFileSync(join(out, 'report.html'), 'utf8')).toContain(`/sessions/${session.id}`);

    const id = /^Live board: (.*)\/evaluations\/(\w+)$/.exec(notices.join('\n'))?.[2] ?? '';
    const { evaluations } = server.client;
    expect((await evaluations.get(id)).summary).toMatchObject({
      state: 'finished',
      done: 1,
      outcomes: { pass: 1, fail: 0, invalid: 0 },
      score: { value: 1, interval: summary.interval },
      tokens: trial?.tokens,
    });
    const [shown] = (await evaluations.trials(id)).trials;
    expect(shown).toMatchObject({ task: trial?.task, state: 'done', session: session.id });
    const text = async (blob: string | null | undefined) =>
      Buffer.from(await evaluations.blob(id, blob ?? '')).toString();
    expect(await text(shown?.answer)).toContain('return n + n');
    expect(await text(shown?.log)).toMatch(/assert 4 == 8[^]*1 passed/);
  });
});
