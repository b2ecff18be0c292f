import { join } from 'node:path';
import type { BelayClient } from '@belay/client';
import type { TrialContext } from '../agents/agent.js';
import { modelAgent } from '../agents/model-agent.js';
import { Unsupported, type Task } from '../model.js';
import { harborData, temporary, write } from '../testing/fixtures.js';
import { suiteNamed } from './index.js';

const { folder, remove } = temporary();
afterAll(remove);
let made = 0;

function taskWith(toml: string, files: Record<string, string> = {}): Task {
  const data = harborData(join(folder, String(++made)));
  write(join(data, 'answer'), { 'task.toml': toml, ...files });
  return suiteNamed('harbor').read(data)[0]!;
}

it('reads resources, users, networks and limits, in the new form and in the old', () => {
  const old = taskWith(
    'version = "1.0"\n[environment]\nmemory = "1.5G"\nstorage = "10G"\nallow_internet = false',
  );
  expect(old.environment).toMatchObject({ cpus: 1, memoryMb: 1536, network: 'none' });
  expect(old.steps[0]?.limits).toEqual({ build: 600, agent: 86_400, verify: 600 });
  const task = taskWith(
    '[agent]\nuser = 1000\ntimeout_sec = 5.5\nnetwork_mode = "no-network"\n[environment]\ncpus = 2\nmemory_mb = 512\nnetwork_mode = "public"\nworkdir = "/w"\n[environment.env]\nA = "${A:-x}"\nB = "$C"\n[verifier]\nuser = "root"',
  );
  expect(task).toMatchObject({
    user: '1000',
    unsupported: null,
    environment: {
      cpus: 2,
      memoryMb: 512,
      network: 'none',
      workdir: '/w',
      env: { A: 'x', B: '$C' },
    },
  });
  expect(taskWith('[environment]\nnetwork_mode = "allowlist"').environment.network).toBe('none');
  expect(taskWith('').environment.network).toBe('bridge');
});

it('a verifier with its own environment runs separately, with the named artifacts', () => {
  const task = taskWith(
    'artifacts = ["/app/a", {source = "/app/b", exclude = ["x"]}]\n[verifier.environment]\nmemory_mb = 256',
    { 'tests/Dockerfile': 'FROM ubuntu:24.04\n' },
  );
  expect(task.artifacts).toEqual({
    kind: 'paths',
    paths: ['/logs/artifacts', '/app/a', '/app/b'],
  });
  expect(task.steps[0]?.verifier.environment).toMatchObject({
    memoryMb: 256,
    image: { kind: 'build' },
  });
});

it('steps have thresholds by key, setups and healthchecks', () => {
  const step = (more: string) => `[[steps]]\nname = "one"\n${more}\n`;
  const { steps } = taskWith(
    `${step('min_reward = 0.5')}${step('min_reward = {a = 1.0}\n[steps.healthcheck]\ncommand = "true"')}`,
  );
  expect(steps.map(({ minReward }) => minReward)).toEqual([{ reward: 0.5 }, { a: 1 }]);
  expect(steps[1]).toMatchObject({
    setup: 'setup.sh',
    healthcheck: { command: 'true', retries: 3 },
  });
});

it.each([
  ['[environment]\nos = "Windows"', 'It needs an operating system other than Linux.'],
  ['[environment]\ngpus = 1', 'It needs a GPU or a TPU.'],
  ['[[environment.mcp_servers]]\nname = "a"\nurl = "http://a"', /MCP servers/],
  ['[[verifier.collect]]\ncommand = "true"', /collect/],
  ['artifacts = [{source = "/a", service = "db"}]', /other services/],
  ['[verifier.env]\nKEY = "${OPENAI_API_KEY}"', /needs OPENAI_API_KEY from the host/],
  [
    '[[steps]]\nname = "a"\n[steps.verifier]\nenvironment_mode = "separate"\n[[steps]]\nname = "b"',
    /Some of its steps/,
  ],
])('%j is not run, with a reason', (toml, why) => {
  expect(taskWith(toml).unsupported).toEqual(
    typeof why === 'string' ? why : expect.stringMatching(why),
  );
});

it('a task without an image is not run, and a contradictory one is not read', () => {
  const data = write(join(folder, 'bare'), { 'a/task.toml': '' });
  expect(suiteNamed('harbor').read(data)[0]?.unsupported).toMatch(/neither/);
  expect(() => taskWith('[verifier]\nenvironment_mode = "shared"\n[verifier.environment]')).toThrow(
    /exclude each other/,
  );
});

it('the agent `model` refuses healthchecks and setups, with a reason', async () => {
  const model = modelAgent({ client: {} as BelayClient, model: 'own:model' });
  const setUp = (task: Task) => model.setup({ task } as TrialContext);
  const checked = taskWith('[environment.healthcheck]\ncommand = "true"');
  await expect(setUp(checked)).rejects.toThrow(Unsupported);
  const stepped = '[[steps]]\nname = "one"';
  const setup = taskWith(stepped, { 'steps/one/workdir/setup.sh': 'true' });
  await expect(setUp(setup)).rejects.toThrow(/not for the agent/);
  await expect(setUp(taskWith(stepped))).resolves.toBeDefined();
});
