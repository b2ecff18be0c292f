import { command, nop, oracle } from './agents/baselines.js';
import { HarborBench } from './testing/harbor-bench.js';
import { stepsTask } from './testing/steps-task.js';

const bench = new HarborBench(process.env.BELAY_TEST_IMAGE ?? null);
beforeAll(() => bench.start(), 300_000);
afterAll(() => bench.remove());
const { trial } = bench;

const collecting = {
  'task.toml': `artifacts = ["/logs/artifacts/answer", {source = "/app/kept/", exclude = ["*.log"]}]
[verifier]
environment_mode = "separate"
[[verifier.collect]]
command = "echo not yet; exit 3"
[[verifier.collect]]
command = "cat /app/answer > /logs/artifacts/answer; touch /app/kept/collected"
`,
  'instruction.md': 'Answer.\n',
  'solution/solve.sh':
    'mkdir -p /app/kept; touch /app/kept/a.txt /app/kept/a.log; echo 42 > /app/answer\n',
  'tests/Dockerfile': 'FROM ubuntu:24.04\nWORKDIR /app\nCOPY test.sh /tests/\n',
  'tests/test.sh':
    '[ "$(cat /logs/artifacts/answer)" = 42 ] && [ -f kept/a.txt ] && [ -f kept/collected ] && [ ! -e kept/a.log ] && [ ! -e answer ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n',
};

it('collect commands run in what the agent left, without its processes', async () => {
  const solved = await trial(collecting, oracle);
  expect(solved.verdict).toMatchObject({ outcome: 'pass', reward: 1 });
  const { note } = bench.artifacts();
  expect(note).toBe('Collect command 1 exited with code 3. not yet');
  expect((await trial(collecting, nop)).verdict).toMatchObject({ outcome: 'fail', reward: 0 });
  // A process of the agent would take the answer back while the commands run.
  const left = `(sleep 1; rm -f /app/answer) & ${collecting['solution/solve.sh'].trim()}`;
  expect((await trial(collecting, command(left))).verdict.outcome).toBe('pass');
});

it('an older pre_artifacts.sh runs before the artifacts are read', async () => {
  const { 'task.toml': _, ...files } = collecting;
  const toml = 'artifacts = ["/app/kept"]\n[verifier]\nenvironment_mode = "separate"\n';
  const script = 'cat answer > /logs/artifacts/answer; rm -f kept/a.log; touch kept/collected\n';
  const given = { ...files, 'task.toml': toml, 'pre_artifacts.sh': script };
  expect((await trial(given, oracle)).verdict).toMatchObject({ outcome: 'pass', reward: 1 });
  expect((await trial({ ...files, 'task.toml': toml }, oracle)).verdict.outcome).toBe('fail');
});

it('a shared verifier gets what the collect commands changed', async () => {
  const files = {
    'task.toml': '[[verifier.collect]]\ncommand = "mv /app/answer /app/moved"\n',
    'instruction.md': 'Answer.\n',
    'solution/solve.sh': 'echo 42 > /app/answer\n',
    'tests/test.sh':
      '[ "$(cat moved)" = 42 ] && [ ! -e answer ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n',
  };
  expect((await trial(files, oracle)).verdict).toMatchObject({ outcome: 'pass', reward: 1 });
  expect((await trial(files, nop)).verdict).toMatchObject({ outcome: 'fail', reward: 0 });
});

it('steps are set up and verified one after the other', async () => {
  const whole = await trial(stepsTask, oracle);
  expect(whole.verdict).toMatchObject({ outcome: 'pass', rewards: { reward: 1, ok: 1 } });
  expect(whole.steps?.map(({ name }) => name)).toEqual(['one', 'two']);
});

it('steps end below a threshold', async () => {
  const none = await trial(stepsTask, nop);
  expect(none.verdict).toMatchObject({ outcome: 'fail', rewards: { reward: 0, ok: 0.25 } });
  expect(none.steps?.map(({ name }) => name)).toEqual(['one']);
});

it('the rewards of steps that reach their threshold are averaged', async () => {
  const half = await trial(stepsTask, command('touch /app/b'));
  expect(half.verdict).toMatchObject({ outcome: 'fail', rewards: { reward: 0, ok: 0.75 } });
});

const service = {
  'task.toml':
    '[environment.healthcheck]\ncommand = "test -p /tmp/service"\nretries = 100\ninterval_sec = 0.1\n',
  // The entrypoint does not run the command, like the one in Harbor’s own example.
  'environment/Dockerfile':
    'FROM ubuntu:24.04\nWORKDIR /app\nCOPY serve.sh /\nENTRYPOINT ["bash", "/serve.sh"]\n',
  'environment/serve.sh':
    'mkfifo /tmp/service.new; mv /tmp/service.new /tmp/service; while :; do echo served > /tmp/service; done\n',
  'instruction.md': 'Read from the service.\n',
  'solution/solve.sh': 'cat /tmp/service > /app/answer\n',
  'tests/test.sh':
    'grep -q served /app/answer && cat /tmp/service | grep -q served && echo 1.0 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n',
};

it('the service that the image’s entrypoint starts is available to agent and tests', async () => {
  expect((await trial(service, oracle)).verdict).toMatchObject({ outcome: 'pass', reward: 1 });
  expect((await trial(service, nop)).verdict).toMatchObject({ outcome: 'fail', reward: 0 });
});

it('a healthcheck that fails is not a failure of the agent', async () => {
  const toml = '[environment.healthcheck]\ncommand = "false"\nretries = 2\ninterval_sec = 0.1\n';
  const { verdict } = await trial({ ...service, 'task.toml': toml }, oracle);
  expect(verdict).toMatchObject({ outcome: 'invalid', cause: 'agent_failed' });
  expect(verdict.detail).toContain('The healthcheck failed 2 times: false');
});
