import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerTasks } from '@belay/containers';
import Docker from 'dockerode';
import { command, fixedArtifacts, nop } from './agents/baselines.js';
import type { Agent } from './agents/agent.js';
import { noArtifacts } from './artifacts.js';
import { defaultFromMap, Images } from './engine/images.js';
import type { TimeLimits, Task, Trial } from './model.js';
import { runTrials, type RunRequest } from './run.js';
import { suiteNamed } from './suites/index.js';
import { doubling, temporary, terminalBenchData, write } from './testing/fixtures.js';

const engine = new DockerTasks();
const images = new Images({
  engine,
  sandbox: process.env.BELAY_TEST_IMAGE ?? null,
  fromMap: defaultFromMap,
});
const { folder, remove } = temporary();
beforeAll(
  () => images.ensure({ kind: 'toolchain', name: 'base' }, AbortSignal.timeout(280_000)),
  300_000,
);
afterAll(remove);

let runs = 0;
const trialsOf = (tasks: Task[], agent: Agent, more: Partial<RunRequest> = {}): Promise<Trial[]> =>
  runTrials(
    {
      tasks,
      agent,
      attempts: 1,
      concurrency: 3,
      network: 'none',
      out: join(folder, `run-${++runs}`),
      signal: new AbortController().signal,
      ...more,
    },
    { engine, images },
  );

const limited = (task: Task, limits: Partial<TimeLimits>): Task => ({
  ...task,
  steps: task.steps.map((step) => ({ ...step, limits: { ...step.limits, ...limits } })),
});

describe('each time limit stops its phase', () => {
  const [task] = suiteNamed('terminal-bench').read(terminalBenchData(join(folder, 'answer')));
  const slow = write(join(folder, 'slow'), {});
  terminalBenchData(slow);
  write(slow, { 'answer/run-tests.sh': '#!/bin/bash\nsleep 900 &\nsleep 900\n' });
  const [slowTests] = suiteNamed('terminal-bench').read(slow);
  write(slow, { 'answer/Dockerfile': 'FROM ubuntu:24.04\nRUN sleep 900\n' });
  const [slowBuild] = suiteNamed('terminal-bench').read(slow);

  it('the agent’s: its work until then is verified', async () => {
    const late = command(
      'mkdir -p /app; echo "def answer(): return 42" > /app/answer.py; sleep 900',
    );
    const idle = command('sleep 900 & sleep 900');
    const [done] = await trialsOf([limited(task!, { agent: 5 })], late);
    expect(done).toMatchObject({ verdict: { outcome: 'pass' } });
    expect(done!.seconds.agent).toBeLessThan(600);
    const [trial] = await trialsOf([limited(task!, { agent: 1 })], idle);
    expect(trial).toMatchObject({ verdict: { outcome: 'fail', cause: 'agent_timeout' } });
    expect(trial!.verdict.detail).toContain('The agent was stopped after 1 s.');
  });

  it('the verifier’s', async () => {
    const [trial] = await trialsOf([limited(slowTests!, { verify: 1 })], nop);
    expect(trial).toMatchObject({ verdict: { outcome: 'fail', cause: 'verifier_timeout' } });
    expect(trial!.seconds.verify).toBeLessThan(600);
  });

  it('the build’s: the trial is invalid', async () => {
    const [trial] = await trialsOf([limited(slowBuild!, { build: 2 })], nop);
    expect(trial).toMatchObject({ verdict: { outcome: 'invalid', cause: 'build_failed' } });
    expect(trial!.verdict.detail).toBe('The build took longer than 2 s.');
  });
});

describe('a trial that failed because of the infrastructure', () => {
  const problems = ['a', 'b', 'c'].map((name) => ({ ...doubling, task_id: `Own/${name}` }));
  const path = join(folder, 'human-eval.jsonl');
  write(folder, {
    'human-eval.jsonl': problems.map((each) => `${JSON.stringify(each)}\n`).join(''),
  });
  const tasks = suiteNamed('human-eval').read(path);

  it('is repeated once, alone, before it counts', async () => {
    const left = new Map([
      ['Own/a', 1],
      ['Own/b', 2],
    ]);
    let running = 0;
    const started: [task: string, others: number][] = [];
    const states: string[] = [];
    const agent: Agent = {
      name: 'unlucky',
      model: null,
      setup: async ({ task: { id } }) => {
        started.push([id, running]);
        const failures = left.get(id) ?? 0;
        left.set(id, failures - 1);
        if (failures > 0) throw new Error('The engine hung up.');
        running += 1;
        const instance = await fixedArtifacts(() => noArtifacts);
        return { ...instance, stop: async () => void (running -= 1) };
      },
    };
    const trials = await trialsOf(tasks, agent, {
      onState: ({ task }, state) => states.push(`${task} ${state}`),
    });
    expect(trials.map(({ task, verdict }) => [task, verdict.outcome, verdict.cause])).toEqual([
      ['Own/a', 'fail', 'wrong'],
      ['Own/b', 'invalid', 'infrastructure'],
      ['Own/c', 'fail', 'wrong'],
    ]);
    expect(trials[1]?.verdict.detail).toBe('The engine hung up.');
    const again = started.slice(3);
    expect(again.map(([task]) => task).toSorted()).toEqual(['Own/a', 'Own/b']);
    expect(again.every(([, others]) => others === 0)).toBe(true);
    expect(states.filter((state) => state === 'Own/a queued')).toHaveLength(1);
  });
});

it('starts no more trials once they have cost the limit, and runs them with a higher one', async () => {
  const three = ['p', 'q', 'r'].map((name) => ({ ...doubling, task_id: `Own/${name}` }));
  const data = write(join(folder, 'priced'), {
    'human-eval.jsonl': three.map((each) => `${JSON.stringify(each)}\n`).join(''),
  });
  const tasks = suiteNamed('human-eval').read(join(data, 'human-eval.jsonl'));
  const agent: Agent = {
    name: 'priced',
    model: null,
    setup: async () => ({
      ...(await fixedArtifacts(() => noArtifacts)),
      usage: () => ({ session: null, tokens: 10, dollars: 0.5 }),
    }),
  };
  const given = { out: join(folder, 'priced-run'), concurrency: 1 };
  expect(await trialsOf(tasks, agent, { ...given, maxDollars: 0.8 })).toHaveLength(2);
  expect(await trialsOf(tasks, agent, { ...given, maxDollars: 0.8 })).toHaveLength(2);
  expect(await trialsOf(tasks, agent, { ...given, maxDollars: 2 })).toHaveLength(3);
});

describe('after an agent has ended', () => {
  const three = ['x', 'y', 'z'].map((name) => ({ ...doubling, task_id: `Own/${name}` }));
  const data = write(join(folder, 'three'), {
    'human-eval.jsonl': three.map((each) => `${JSON.stringify(each)}\n`).join(''),
  });
  const tasks = suiteNamed('human-eval').read(join(data, 'human-eval.jsonl'));

  it('its output is kept as printed, and a missing command does not fail the task', async () => {
    const said = async (line: string) => {
      const out = join(folder, `said-${++runs}`);
      const [trial] = await trialsOf(tasks.slice(0, 1), command(line), { out });
      const path = join(out, 'trials/Own__x.1/solve/agent-output.txt');
      return { verdict: trial?.verdict, output: readFileSync(path, 'utf8') };
    };
    expect(await said('no-such-agent --now')).toMatchObject({
      verdict: { outcome: 'invalid', cause: 'agent_failed' },
      output: expect.stringContaining('no-such-agent'),
    });
    expect(await said('echo working; exit 3')).toMatchObject({
      verdict: { outcome: 'fail', cause: 'wrong' },
      output: 'working\n',
    });
  });

  it('its container is removed when its trial has ended, not at the end of the run', async () => {
    const docker = new Docker();
    const seen: Promise<Set<string>>[] = [];
    const listed = async () => {
      const filters = { label: ['belay.evaluation'] };
      const all = await docker.listContainers({ all: true, filters });
      const own = all.filter(({ Command }) => Command.includes('left-by-an-agent'));
      return new Set(own.map(({ Id }) => Id));
    };
    await trialsOf(tasks, command(': left-by-an-agent; sleep 1'), {
      concurrency: 1,
      onState: (_, state) => void (state === 'verifying' && seen.push(listed())),
    });
    const sets = await Promise.all(seen);
    expect(sets).toHaveLength(3);
    for (const [index, set] of sets.entries())
      for (const earlier of sets.slice(0, index))
        expect([...set].filter((id) => earlier.has(id))).toEqual([]);
  });
});
