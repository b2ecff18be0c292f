import { command, oracle } from './agents/baselines.js';
import { HarborBench } from './testing/harbor-bench.js';

const bench = new HarborBench(process.env.BELAY_TEST_IMAGE ?? null);
beforeAll(() => bench.start(), 300_000);
afterAll(() => bench.remove());
const { trial } = bench;

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
