import { spawnSync } from 'node:child_process';
import type { Instance } from './instance.js';
import { judgeInstance } from './logs.js';
import { recordedExit, testPatchRefused } from './scripts.js';

const run = (script: string) =>
  spawnSync('bash', ['-c', recordedExit(script)], { encoding: 'utf8' });

it('records the exit code of the tests after the end marker, and exits with it', () => {
  const script = `set -uxo pipefail\n: '>>>>> Start Test Output'\nsh -c 'exit 3'\n: '>>>>> End Test Output'\ntrue\n`;
  const { stdout, status } = run(script);
  expect(stdout).toBe('>>>>> Test Exit Code: 3\n');
  expect(status).toBe(3);
});

describe('attacks: a test patch that does not apply', () => {
  const patched = (patch: string) =>
    run(
      `cd $(mktemp -d)\ngit apply -v - <<'EOF_TEST'\n${patch}EOF_TEST\n: '>>>>> Start Test Output'\ntrue\n: '>>>>> End Test Output'\n`,
    );

  it('ends the script before the tests, without a result', () => {
    const old = 'diff --git a/t.js b/t.js\n--- a/t.js\n+++ b/t.js\n@@ -1 +1 @@\n-old\n+new\n';
    const { status, stdout } = patched(old);
    expect(status).toBe(testPatchRefused);
    const instance = { log_parser: 'console_assert' } as Instance;
    const outcome = { exitCode: Number(status), output: stdout, files: new Map<string, Buffer>() };
    expect(judgeInstance(instance, outcome)).toMatchObject({
      outcome: 'invalid',
      detail: 'The test patch does not apply, so no hidden test was run.',
    });
  });

  it('control: the tests run after one that applies', () => {
    const added =
      'diff --git a/t.js b/t.js\nnew file mode 100644\n--- /dev/null\n+++ b/t.js\n@@ -0,0 +1 @@\n+new\n';
    expect(patched(added)).toMatchObject({ status: 0, stdout: '>>>>> Test Exit Code: 0\n' });
  });
});

it('keeps the code of a script that records it itself', () => {
  const script = `: '>>>>> Start Test Output'\nsh -c 'exit 4'\nSWEBENCH_TEST_EXIT_CODE=$?\n: '>>>>> End Test Output'\necho ">>>>> Test Exit Code: $SWEBENCH_TEST_EXIT_CODE"\n`;
  const { stdout, status } = run(script);
  expect(stdout).toBe('>>>>> Test Exit Code: 4\n');
  expect(status).toBe(4);
});
