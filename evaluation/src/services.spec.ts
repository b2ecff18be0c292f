import { join } from 'node:path';
import { command, nop, oracle } from './agents/baselines.js';
import type { Agent } from './agents/agent.js';
import { Engine } from './engine/engine.js';
import { defaultFromMap, Images } from './engine/images.js';
import type { Trial } from './model.js';
import { trialFolder } from './results/journal.js';
import { regradeTrials } from './regrade.js';
import { loadArtifacts, runTrials } from './run.js';
import { suiteNamed } from './suites/index.js';
import { temporary, write } from './testing/fixtures.js';
import { putText, replaceStore, storeCompose, storeTask } from './testing/store-task.js';

const engine = new Engine();
const sandbox = process.env.BELAY_TEST_IMAGE ?? null;
const images = new Images({ engine, sandbox, fromMap: defaultFromMap });
const { folder, remove } = temporary();
beforeAll(
  () => images.ensure({ kind: 'toolchain', name: 'base' }, AbortSignal.timeout(280_000)),
  300_000,
);
afterAll(remove);
let runs = 0;

/** Each trial has data and results of its own. */
const outFolder = () => join(folder, `out-${runs}`);

const tasks = () => suiteNamed('harbor').read(join(folder, `data-${runs}`));

async function trial(files: Record<string, string>, agent: Agent): Promise<Trial> {
  write(join(folder, `data-${++runs}`), { ...storeTask, ...files });
  const [found] = await runTrials(
    {
      tasks: tasks(),
      agent,
      attempts: 1,
      concurrency: 1,
      network: 'none',
      out: outFolder(),
      signal: new AbortController().signal,
    },
    { engine, images },
  );
  return found!;
}

/** The artifacts of the step of the last trial. */
const artifacts = () =>
  loadArtifacts(join(trialFolder(outFolder(), { task: `data-${runs}`, attempt: 1 }), 'solve'));

it('agent and tests reach the services of a task, as the agent left them', async () => {
  expect((await trial({}, oracle)).verdict).toMatchObject({ outcome: 'pass', reward: 1 });
  expect((await trial({}, nop)).verdict).toMatchObject({ outcome: 'fail', reward: 0 });
  // An honest agent other than a baseline is compared with the reference, which has services of its own.
  expect((await trial({}, command(putText('changed')))).verdict).toMatchObject({ outcome: 'pass' });
});

it('a trial whose tests used services keeps its verdict when it is verified again', async () => {
  const before = await trial({}, oracle);
  const request = {
    out: outFolder(),
    trials: [before],
    network: 'none' as const,
    signal: new AbortController().signal,
  };
  const again = await regradeTrials({ ...request, tasks: tasks() }, { engine, images });
  expect(again).toEqual([before]);
});

it('commands collect in a service, and its files are artifacts', async () => {
  const separate = {
    'task.toml': `artifacts = [{ source = "/kept.txt", service = "store" }, { source = "/dump", service = "store" }]
[verifier]
environment_mode = "separate"
[[verifier.collect]]
command = "cp /kept.txt /dump"
service = "store"
`,
    'tests/test.sh':
      '[ "$(cat /dump /kept.txt)" = changedchanged ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n',
  };
  expect((await trial(separate, oracle)).verdict).toMatchObject({ outcome: 'pass' });
  const paths = artifacts().entries.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['/kept.txt', '/dump']));
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
    artifacts()
      .entries.find(({ path }) => path === '/app/answer')
      ?.bytes.toString(),
  ).toBe('changed\n');
  expect(verdict).toMatchObject({ outcome: 'fail' });
});

it('attack: agent and services reach nothing outside, and services get no rights from their data', async () => {
  const look =
    'ls /sys/class/net; grep CapEff /proc/self/status; ls /var/run/docker.sock 2>&1 | tail -1';
  const spying = {
    'environment/docker-compose.yaml': storeCompose.replace(
      'sh -c "exit 0"',
      `sh -c "${look} > /proc/1/fd/1; exit 3"`,
    ),
  };
  const { verdict } = await trial(spying, nop);
  const [found = ''] = /first ended with exit code 3[^]*/.exec(verdict.detail) ?? [];
  expect(found).toContain('\nlo\n');
  expect(found).not.toContain('eth0');
  // CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID and SETUID.
  expect(found).toContain('CapEff:\t00000000000000eb');
  expect(found).toMatch(/docker\.sock.*No such file/);
  await trial({}, command('ls /sys/class/net > /app/interfaces'));
  const { entries } = artifacts();
  expect(entries.map(({ path, bytes }) => [path, bytes.toString()])).toContainEqual([
    '/app/interfaces',
    'lo\n',
  ]);
});
