import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from './agents/agent.js';
import { command, fixedArtifacts } from './agents/baselines.js';
import { noArtifacts } from './artifacts.js';
import { EvaluationBench } from './testing/evaluation-bench.js';

const bench = new EvaluationBench(process.env.BELAY_TEST_IMAGE ?? null);
const { folder } = bench;

describe('a trial that failed because of the infrastructure', () => {
  const tasks = bench.tasks('a', 'b', 'c');

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
    const trials = await bench.trials(tasks, agent, {
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
  const tasks = bench.tasks('p', 'q', 'r');
  const agent: Agent = {
    name: 'priced',
    model: null,
    setup: async () => ({
      ...(await fixedArtifacts(() => noArtifacts)),
      usage: () => ({ session: null, tokens: 10, dollars: 0.5 }),
    }),
  };
  const given = { out: join(folder, 'priced-run'), concurrency: 1 };
  expect(await bench.trials(tasks, agent, { ...given, maxDollars: 0.8 })).toHaveLength(2);
  expect(await bench.trials(tasks, agent, { ...given, maxDollars: 0.8 })).toHaveLength(2);
  expect(await bench.trials(tasks, agent, { ...given, maxDollars: 2 })).toHaveLength(3);
});

describe('after an agent has ended', () => {
  const tasks = bench.tasks('x');

  it('its output is kept as printed, and a missing command does not fail the task', async () => {
    const said = async (line: string) => {
      const out = mkdtempSync(join(folder, 'said-'));
      const [trial] = await bench.trials(tasks, command(line), { out });
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
});
