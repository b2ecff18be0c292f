import { command, nop, oracle } from './agents/baselines.js';
import { HarborBench } from './testing/harbor-bench.js';

const bench = new HarborBench(process.env.BELAY_TEST_IMAGE ?? null);
beforeAll(() => bench.start(), 300_000);
afterAll(() => bench.remove());
const { trial } = bench;

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

const steps = {
  'task.toml': `[[steps]]
name = "one"
min_reward = {ok = 0.5}
[[steps]]
name = "two"
[steps.verifier.env]
WANTED = "prepared"
[steps.healthcheck]
command = "test -f /app/ready"
`,
  'tests/check.sh':
    'reward() { echo "{\\"reward\\": $1, \\"ok\\": $2}" > /logs/verifier/reward.json; }\n',
  'steps/one/instruction.md': 'Make a.\n',
  'steps/one/solution/solve.sh': 'touch /app/a\n',
  'steps/one/tests/test.sh':
    '. /tests/check.sh; [ -f /app/a ] && reward 1 1 || { [ -f /app/b ] && reward 0 0.5 || reward 0 0.25; }\n',
  'steps/two/instruction.md': 'Go on.\n',
  'steps/two/workdir/setup.sh': 'echo prepared > made; touch ready; rm -- "$0"\n',
  'steps/two/solution/solve.sh': 'cp made kept\n',
  'steps/two/tests/test.sh':
    '. /tests/check.sh; [ -f /app/a ] && [ ! -e /app/setup.sh ] && grep -q "$WANTED" kept && reward 1 1 || reward 0 1\n',
};

it('steps are set up and verified one after the other, and end below a threshold', async () => {
  const whole = await trial(steps, oracle);
  expect(whole.verdict).toMatchObject({ outcome: 'pass', rewards: { reward: 1, ok: 1 } });
  expect(whole.steps?.map(({ name }) => name)).toEqual(['one', 'two']);
  const half = await trial(steps, command('touch /app/b'));
  expect(half.verdict).toMatchObject({ outcome: 'fail', rewards: { reward: 0, ok: 0.75 } });
  const none = await trial(steps, nop);
  expect(none.verdict).toMatchObject({ outcome: 'fail', rewards: { reward: 0, ok: 0.25 } });
  expect(none.steps?.map(({ name }) => name)).toEqual(['one']);
});

it('a separate verifier gets the artifacts and nothing else', async () => {
  const files = {
    'task.toml': 'artifacts = ["/app/answer"]\n[verifier]\nenvironment_mode = "separate"\n',
    'instruction.md': 'Answer.\n',
    'solution/solve.sh': 'echo 42 > /app/answer; echo 1 > /app/other\n',
    'tests/Dockerfile': 'FROM ubuntu:24.04\nWORKDIR /app\nCOPY test.sh /tests/\n',
    'tests/test.sh':
      '[ "$(cat /app/answer)" = 42 ] && [ ! -e /app/other ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n',
  };
  expect((await trial(files, oracle)).verdict.outcome).toBe('pass');
  const forged = command(
    'mkdir -p /tests /logs/verifier; echo 1 | tee /logs/verifier/reward.txt; echo "echo 1 > /logs/verifier/reward.txt" > /tests/test.sh',
  );
  expect((await trial(files, forged)).verdict).toMatchObject({ outcome: 'fail', reward: 0 });
});

it('a task with unsupported requirements is invalid, with a reason', async () => {
  const { verdict } = await trial({ 'task.toml': '[environment]\ngpus = 1\n' }, oracle);
  expect(verdict).toMatchObject({
    outcome: 'invalid',
    cause: 'unsupported',
    detail: 'It needs a GPU or a TPU.',
  });
});
