import type { Agent } from './agents/agent.js';
import { command, nop, oracle } from './agents/baselines.js';
import { HarborBench } from './testing/harbor-bench.js';
import { putText, storeCompose, storeTask } from './testing/store-task.js';

const bench = new HarborBench(process.env.BELAY_TEST_IMAGE ?? null);
beforeAll(() => bench.start(), 300_000);
afterAll(() => bench.remove());

const trial = (files: Record<string, string>, agent: Agent) =>
  bench.trial({ ...storeTask, ...files }, agent);

it('an agent that leaves the services as they are does not pass', async () => {
  expect((await trial({}, nop)).verdict).toMatchObject({ outcome: 'fail', reward: 0 });
});

it('a service that does not become healthy makes the trial invalid, with what it printed', async () => {
  const broken = { 'environment/store/store.py': 'raise SystemExit("no text today")\n' };
  const { verdict } = await trial(broken, nop);
  expect(verdict).toMatchObject({ outcome: 'invalid', cause: 'build_failed' });
  expect(verdict.detail).toMatch(/^The service store ended with exit code 1\.[^]*no text today/);
});

it('an honest agent other than a baseline is compared with the reference, which has services of its own', async () => {
  expect((await trial({}, command(putText('changed')))).verdict).toMatchObject({ outcome: 'pass' });
});

it('a trial whose tests used services keeps its verdict when it is verified again', async () => {
  const before = await trial({}, oracle);
  expect(await bench.regrade(before)).toEqual([before]);
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
  const paths = bench.artifacts().entries.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['/kept.txt', '/dump']));
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
  const { entries } = bench.artifacts();
  expect(entries.map(({ path, bytes }) => [path, bytes.toString()])).toContainEqual([
    '/app/interfaces',
    'lo\n',
  ]);
});
