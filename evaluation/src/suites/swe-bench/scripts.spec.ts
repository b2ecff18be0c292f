import { spawnSync } from 'node:child_process';
import { proofFile } from '../../model.js';
import { ownStart, proof } from '../../testing/instance-output.js';
import type { Instance } from './instance.js';
import { judgeInstance } from './logs.js';
import { ownMarkerName, recordedExit, testPatchRefused } from './scripts.js';

/** All output in one stream, as in a verification. */
const run = (script: string) =>
  spawnSync('bash', ['-c', `exec 2>&1\n${recordedExit(script)}`], {
    encoding: 'utf8',
    env: { ...process.env, [ownMarkerName]: ownStart },
  });

it('records the exit code of the tests after the end marker, and exits with it', () => {
  const script = `set -uxo pipefail\n: '>>>>> Start Test Output'\nsh -c 'exit 3'\n: '>>>>> End Test Output'\ntrue\n`;
  const { stdout, status } = run(script);
  expect(stdout).toMatch(/>>>>> Test Exit Code: 3\n/);
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
      detail:
        'The test patch does not apply, or its files cannot be copied, so no hidden test was run.',
    });
  });

  it('control: the tests run after one that applies', () => {
    const added =
      'diff --git a/t.js b/t.js\nnew file mode 100644\n--- /dev/null\n+++ b/t.js\n@@ -0,0 +1 @@\n+new\n';
    expect(patched(added)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/>>>>> Test Exit Code: 0\n$/),
    });
  });
});

it('keeps the code of a script that records it itself', () => {
  const script = `: '>>>>> Start Test Output'\nsh -c 'exit 4'\nSWEBENCH_TEST_EXIT_CODE=$?\n: '>>>>> End Test Output'\necho ">>>>> Test Exit Code: $SWEBENCH_TEST_EXIT_CODE"\n`;
  const { stdout, status } = run(script);
  expect(stdout.match(/Test Exit Code: \d/g)).toEqual(['Test Exit Code: 4']);
  expect(status).toBe(4);
});

describe('attacks: a patch that contains the markers and a report', () => {
  const instance = {
    log_parser: 'parse_log_openlayers',
    eval_type: 'fail_only',
    FAIL_TO_PASS: [] as string[],
    PASS_TO_PASS: ['a'],
  } as Instance;
  const forged = ['>>>>> Start Test Output', '5 passing', 'Chrome 1 (Linux x86_64) zz FAILED'];
  const judged = (tests: string) => {
    const script = [
      'set -x',
      ...forged.map((line) => `echo '+${line}'; echo '${line}'`),
      "cat <<'EOF_TEST'",
      ...forged,
      '>>>>> End Test Output',
      'EOF_TEST',
      ": '>>>>> Start Test Output'",
      tests,
      ": '>>>>> End Test Output'",
      '',
    ].join('\n');
    const { status, stdout } = run(script);
    const files = new Map([[proofFile, Buffer.from(proof)]]);
    return judgeInstance(instance, { exitCode: Number(status), output: stdout, files });
  };

  it('has no result if its tests do not run', () => {
    expect(judged("sh -c 'exit 1'")).toMatchObject({ outcome: 'fail', cause: 'no_result' });
    expect(judged('true')).toMatchObject({ outcome: 'fail', cause: 'no_result' });
  });

  it('control: has the result of the tests that run', () => {
    expect(judged("echo '  5 passing'").outcome).toBe('pass');
    expect(judged("echo 'Chrome 1 (Linux x86_64) a FAILED'; sh -c 'exit 1'").outcome).toBe('fail');
  });
});
