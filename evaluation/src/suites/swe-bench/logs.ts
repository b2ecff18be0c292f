import { fail, invalid, pass, proofFile, type VerifierOutput, type Verdict } from '../../model.js';
import { failedTests } from '../parsed-lines.js';
import type { RunnableInstance } from './runnable-instance.js';
import type { Instance } from './instance.js';
import { proofHash, sealedReport } from '../seal.js';
import { logParserOf, suiteRan } from './parsers.js';
import type { TestResults } from '../test-log.js';
import { ownMarker, patchRefused, setupFailed, testPatchRefused } from './scripts.js';

interface Parsed {
  tests: TestResults;
  /** Whether the log proves that the suite ran. */
  ran: boolean;
}

/**
 * The runner prints only failures, so its guard reports with a seal that the test file has
 * finished.
 */
function consoleAssert(log: string, outcome: VerifierOutput): Parsed {
  const good =
    outcome.exitCode === 0 &&
    !log.includes('Assertion failed') &&
    sealedReport(outcome)?.tests['test.js'] === 'PASSED';
  return { tests: { 'test.js': good ? 'PASSED' : 'FAILED' }, ran: true };
}

/** Undefined if the parser is unknown. */
function parsedLog(instance: Instance, log: string, outcome: VerifierOutput): Parsed | undefined {
  const { log_parser: name = '' } = instance;
  if (name === 'console_assert') return consoleAssert(log, outcome);
  const parse = logParserOf(name);
  if (!parse) return undefined;
  const tests = parse(log, { version: instance.version, id: instance.instance_id });
  const ran = instance.eval_type === 'fail_only' ? suiteRan(log) : Object.keys(tests).length > 0;
  return { tests, ran };
}

/** The results of a run whose tests may fail; undefined when there are none. */
export function testsOfInstance(
  instance: RunnableInstance,
  outcome: VerifierOutput,
): TestResults | undefined {
  const log = between(outcome);
  if (log === undefined) return undefined;
  if (instance.log_parser === 'console_assert') return assertionsIn(log);
  return parsedLog(instance, log, outcome)?.tests;
}

/** Failed decoys by their message; other failed assertions are the test file’s own. */
function assertionsIn(log: string): TestResults {
  const messages = Array.from(log.matchAll(/^Assertion failed(?:: (.*))?$/gm), ([, text]) => text);
  const named = messages.filter((text) => /^Q[0-9a-f]{12} \d+$/.test(text ?? ''));
  return {
    'test.js': named.length === messages.length ? 'PASSED' : 'FAILED',
    ...failedTests(named.map(String)),
  };
}

export const isKnownParser = (name: string): boolean =>
  name === 'console_assert' || logParserOf(name) !== undefined;

/**
 * Resolved if every required test passes. The exit code comes from the engine, not from the log.
 */
export function judgeInstance(instance: Instance, outcome: VerifierOutput): Verdict {
  const { exitCode, output } = outcome;
  if (exitCode === patchRefused) return fail('The patch does not apply.', 'patch_refused');
  if (exitCode === testPatchRefused)
    return invalid(
      'no_result',
      'The test patch does not apply, or its files cannot be copied, so no hidden test was run.',
    );
  if (exitCode === setupFailed) return invalid('infrastructure', output.slice(-400));
  const log = between(outcome);
  if (log === undefined)
    return fail(
      'The log has no test output: the script ended before its tests, or they printed more than 32 MB.',
      'no_result',
    );
  const parsed = parsedLog(instance, log, outcome);
  if (!parsed) return invalid('no_result', `There is no parser called ${instance.log_parser}.`);
  const { tests, ran } = parsed;
  const anyFailed = Object.values(tests).some(
    (result) => result === 'FAILED' || result === 'ERROR',
  );
  if (!ran || (exitCode !== 0 && !anyFailed))
    return fail(`The tests exited with code ${exitCode} and without a result.`, 'no_result');
  const isGood = goodBy(instance.eval_type, tests);
  const wrong = [
    ...instance.FAIL_TO_PASS.filter((test) => !isGood(test, 'FAIL_TO_PASS')),
    ...instance.PASS_TO_PASS.filter((test) => !isGood(test, 'PASS_TO_PASS')),
  ];
  const all = instance.FAIL_TO_PASS.length + instance.PASS_TO_PASS.length;
  if (wrong.length === 0 && all > 0)
    return pass(`${all} ${all === 1 ? 'test has' : 'tests have'} the expected result.`, { tests });
  return fail(`${wrong.length} of ${all} tests do not have the expected result.`, 'wrong', {
    tests,
  });
}

export function goodBy(type: Instance['eval_type'], tests: Record<string, string>) {
  return (test: string, list: 'FAIL_TO_PASS' | 'PASS_TO_PASS'): boolean => {
    const result = resultOf(test, tests);
    if (type === 'fail_only') return result !== 'FAILED';
    if (result === 'PASSED' || result === 'XFAIL') return true;
    return list === 'PASS_TO_PASS' && result === 'SKIPPED';
  };
}

/**
 * Some lists of SWE-Bench have ids that are cut off within their parameters, such as `test[log(a`.
 * Such an id stands for the tests that start with it, if they all passed or all failed.
 */
function resultOf(test: string, tests: Record<string, string>): string | undefined {
  if (tests[test] || test.split('[').length <= test.split(']').length) return tests[test];
  const results = Object.keys(tests)
    .filter((id) => id.startsWith(test))
    .map((id) => tests[id] ?? '');
  const outcomes = new Set(results.map((result) => result === 'PASSED' || result === 'XFAIL'));
  return outcomes.size === 1 ? results[0] : undefined;
}

/**
 * From the verification's own marker to the last end marker, which `set -x` prints. SWE-Bench's
 * start marker proves nothing, because the script also prints the patch.
 */
function between({ output, files }: VerifierOutput): string | undefined {
  const proof = files.get(proofFile);
  const start = proof ? output.indexOf(ownMarker(proofHash(proof.toString()))) : -1;
  const end = output.lastIndexOf('>>>>> End Test Output');
  return start >= 0 && end > start ? output.slice(start, end).replaceAll('\r\n', '\n') : undefined;
}
