import { join } from 'node:path';
import Docker from 'dockerode';
import { command, nop } from './agents/baselines.js';
import { suiteNamed } from './suites/index.js';
import { terminalBenchData, write } from './testing/fixtures.js';
import { limited, EvaluationBench } from './testing/evaluation-bench.js';

const bench = new EvaluationBench(process.env.BELAY_TEST_IMAGE ?? null);

it('what an agent did until its time limit passes if it is right', async () => {
  const [task] = suiteNamed('terminal-bench').read(terminalBenchData(join(bench.folder, 'answer')));
  const late = command('mkdir -p /app; echo "def answer(): return 42" > /app/answer.py; sleep 900');
  const [done] = await bench.trials([limited(task!, { agent: 5 })], late);
  expect(done).toMatchObject({ verdict: { outcome: 'pass' } });
  expect(done!.seconds.agent).toBeLessThan(600);
});

describe('each time limit stops its phase', () => {
  const { folder } = bench;
  const [task] = suiteNamed('terminal-bench').read(terminalBenchData(join(folder, 'answer')));
  const slow = write(join(folder, 'slow'), {});
  terminalBenchData(slow);
  write(slow, { 'answer/run-tests.sh': '#!/bin/bash\nsleep 900 &\nsleep 900\n' });
  const [slowTests] = suiteNamed('terminal-bench').read(slow);
  write(slow, { 'answer/Dockerfile': 'FROM ubuntu:24.04\nRUN sleep 900\n' });
  const [slowBuild] = suiteNamed('terminal-bench').read(slow);

  it('the agent’s, and what there is then is verified', async () => {
    const idle = command('sleep 900 & sleep 900');
    const [trial] = await bench.trials([limited(task!, { agent: 1 })], idle);
    expect(trial).toMatchObject({ verdict: { outcome: 'fail', cause: 'agent_timeout' } });
    expect(trial!.verdict.detail).toContain('The agent was stopped after 1 s.');
  });

  it('the verifier’s', async () => {
    const [trial] = await bench.trials([limited(slowTests!, { verify: 1 })], nop);
    expect(trial).toMatchObject({ verdict: { outcome: 'fail', cause: 'verifier_timeout' } });
    expect(trial!.seconds.verify).toBeLessThan(600);
  });

  it('the build’s: the trial is invalid', async () => {
    const [trial] = await bench.trials([limited(slowBuild!, { build: 2 })], nop);
    expect(trial).toMatchObject({ verdict: { outcome: 'invalid', cause: 'build_failed' } });
    expect(trial!.verdict.detail).toBe('The build took longer than 2 s.');
  });
});

it('the container of an agent is removed when its trial has ended, not at the end of the run', async () => {
  const docker = new Docker();
  const seen: Promise<Set<string>>[] = [];
  const listed = async () => {
    const filters = { label: ['belay.evaluation'] };
    const all = await docker.listContainers({ all: true, filters });
    const own = all.filter(({ Command }) => Command.includes('left-by-an-agent'));
    return new Set(own.map(({ Id }) => Id));
  };
  await bench.trials(bench.tasks('x', 'y', 'z'), command(': left-by-an-agent; sleep 1'), {
    concurrency: 1,
    onState: (_, state) => void (state === 'verifying' && seen.push(listed())),
  });
  const sets = await Promise.all(seen);
  expect(sets).toHaveLength(3);
  for (const [index, set] of sets.entries())
    for (const earlier of sets.slice(0, index))
      expect([...set].filter((id) => earlier.has(id))).toEqual([]);
});
