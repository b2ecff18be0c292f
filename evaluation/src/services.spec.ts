import type { Agent } from './agents/agent.js';
import { command, nop, oracle } from './agents/baselines.js';
import { HarborBench } from './testing/harbor-bench.js';
import { replaceStore, storeTask } from './testing/store-task.js';

const bench = new HarborBench(process.env.BELAY_TEST_IMAGE ?? null);
beforeAll(() => bench.start(), 300_000);
afterAll(() => bench.remove());

const trial = (files: Record<string, string>, agent: Agent) =>
  bench.trial({ ...storeTask, ...files }, agent);

it('agent and tests reach the services of a task, as the agent left them', async () => {
  expect((await trial({}, oracle)).verdict).toMatchObject({ outcome: 'pass', reward: 1 });
  expect((await trial({}, nop)).verdict).toMatchObject({ outcome: 'fail', reward: 0 });
});

it('a service that does not become healthy makes the trial invalid, with what it printed', async () => {
  const broken = { 'environment/store/store.py': 'raise SystemExit("no text today")\n' };
  const { verdict } = await trial(broken, nop);
  expect(verdict).toMatchObject({ outcome: 'invalid', cause: 'build_failed' });
  expect(verdict.detail).toMatch(/^The service store ended with exit code 1\.[^]*no text today/);
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
