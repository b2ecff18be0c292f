import { join } from 'node:path';
import { temporary, write } from '../../testing/fixtures.js';
import { instanceOutput } from '../../testing/instance-output.js';
import { suiteNamed } from '../index.js';

const { folder, remove } = temporary();
afterAll(remove);

const word = 'Q0123456789ab';

/** The second run of an instance whose test patch changes one file. */
function checkOf(repo: string, version: string, path: string) {
  const test_patch = `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`;
  const line = { repo, version, instance_id: 'a__b-1', base_commit: 'a'.repeat(40), test_patch };
  const more = { problem_statement: '', FAIL_TO_PASS: ['a'], PASS_TO_PASS: [] };
  write(folder, { 'one.jsonl': `${JSON.stringify({ ...line, ...more })}\n` });
  const [task] = suiteNamed('swe-bench').read(join(folder, 'one.jsonl'));
  const check = task?.steps[0]?.verifier.check?.(word, []);
  const script = check?.verifier.files.find((file) => file.path === '/verify/eval.sh');
  return { ...check, script: script?.bytes.toString() ?? '' };
}

it.each([
  ['django/django', '4.2', 'tests/basic/tests.py', 'tests/basic/tests.py', 'runtests.py --reverse'],
  ['sympy/sympy', '1.12', 'sympy/core/tests/test_a.py', 'sympy/core/tests/test_a.py', 'bin/test'],
  ['pallets/flask', '2.3', 'tests/test_a.py', 'tests/test_a.py', 'pytest'],
  ['eslint/eslint', '8.1', 'tests/lib/a.js', 'tests/lib/a.js', 'mocha'],
  [
    'markedjs/marked',
    '4.0',
    'test/specs/new/a.md',
    `test/${word}-spec.js`,
    '--config=jasmine.json --random=true --seed=',
  ],
  [
    'PrismJS/prism',
    '1.24',
    'tests/languages/css/a.test',
    `tests/languages/css/${word}_0.test`,
    '--language css',
  ],
  [
    'GoogleChrome/lighthouse',
    '6.0',
    'lighthouse-core/test/a-test.js',
    'lighthouse-core/test/a-test.js',
    'jest',
  ],
  ['prettier/prettier', '2.3', 'tests/x/jsfmt.spec.js', 'tests/x/jsfmt.spec.js', 'yarn test'],
  [
    'carbon-design-system/carbon',
    '10',
    'packages/a/__tests__/A-test.js',
    'packages/a/__tests__/A-test.js',
    'yarn test',
  ],
  ['Automattic/wp-calypso', '10.9.0', 'client/a/test/index.js', 'client/a/test/index.js', 'jest'],
  ['scratchfoundation/scratch-gui', '5', 'test/unit/a.test.js', 'test/unit/a.test.js', 'jest'],
])('%s %s: decoys are added to the hidden tests', (repo, version, ...[path, host, run]) => {
  const { script, decoys } = checkOf(repo, version, path);
  expect(decoys).toBeGreaterThan(0);
  const added = script.indexOf(`cat /verify/decoys >> '${host}'`);
  expect(added).toBeGreaterThan(script.indexOf('git apply'));
  expect(script.indexOf('Start Test Output')).toBeGreaterThan(added);
  expect(script.slice(added)).toContain(run);
});

it.each([
  ['django/django', '4.2', 'tests/basic/views.py'],
  ['GoogleChrome/lighthouse', '2.0', 'lighthouse-core/test/a-test.js'],
  ['alibaba-fusion/next', '1.27', 'cypress/a.cy.js'],
  ['prettier/prettier', '2.3', 'tests/x/__snapshots__/jsfmt.spec.js.snap'],
])('%s %s: runs the same tests again where %s cannot have decoys', (...of) => {
  const { verifier, decoys, script } = checkOf(...of);
  expect(decoys).toBe(0);
  expect(verifier).toBeDefined();
  expect(script).not.toContain('/verify/decoys');
});

it('reads the tests below the files that Jest names, and judges a file by its own', () => {
  const { verifier } = checkOf('prettier/prettier', '2.3', 'tests/x/jsfmt.spec.js');
  const results = (...lines: string[]) => {
    return verifier?.judge(instanceOutput(lines.join('\n'), 1)).tests;
  };
  const decoy = `  ● ${word} 0`;
  expect(
    results('PASS tests/y.js', 'FAIL tests/x/jsfmt.spec.js (5.2 s)', decoy, '    at', decoy),
  ).toEqual({
    'tests/y.js': 'PASSED',
    'tests/x/jsfmt.spec.js': 'PASSED',
    [`${word} 0`]: 'FAILED',
  });
  expect(results('FAIL tests/x/jsfmt.spec.js', decoy, '  ● formats › a.js')).toMatchObject({
    'tests/x/jsfmt.spec.js': 'FAILED',
  });
  // No decoy failed, so the tested code has changed how tests are judged.
  expect(results('PASS tests/x/jsfmt.spec.js')).toEqual({ 'tests/x/jsfmt.spec.js': 'PASSED' });
});

it('names failed tests as their runner prints them', () => {
  const { verifier } = checkOf('django/django', '4.2', 'tests/basic/tests.py');
  const log = `a (basic.tests.One) ... ok\ntest_${word}_u0 (basic.tests.Test${word}) ... FAIL`;
  expect(verifier?.judge(instanceOutput(log, 1)).tests).toEqual({
    'a (basic.tests.One)': 'PASSED',
    [`test_${word}_u0 (basic.tests.Test${word})`]: 'FAILED',
  });
});
