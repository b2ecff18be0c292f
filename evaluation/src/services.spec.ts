import type { Agent } from './agents/agent.js';
import { command, oracle } from './agents/baselines.js';
import { HarborBench } from './testing/harbor-bench.js';
import { replaceStore, storeTask } from './testing/store-task.js';

const bench = new HarborBench(process.env.BELAY_TEST_IMAGE ?? null);
beforeAll(() => bench.start(), 300_000);
afterAll(() => bench.remove());

const trial = (files: Record<string, string>, agent: Agent) =>
  bench.trial({ ...storeTask, ...files }, agent);

it('agent and tests reach the services of a task, as the agent left them', async () => {
  expect((await trial({}, oracle)).verdict).toMatchObject({ outcome: 'pass', reward: 1 });
});

it('attack: an agent that answers in place of a crashed service does not pass', async () => {
  const { verdict } = await trial({}, command(`${replaceStore} > /app/answer`));
  expect(
    bench
      .artifacts()
      .entries.find(({ path }) => path === '/app/answer')
      ?.bytes.toString(),
  ).toBe('changed\n');
  expect(verdict).toMatchObject({ outcome: 'fail' });
});
