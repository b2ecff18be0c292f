import { failed, invalid, passed, type Outcome, type Verdict } from '../model.js';
import type { Instance } from './swe-bench-instance.js';
import { patchRefused, setupFailed } from './swe-bench-scripts.js';

export type TestResult = 'PASSED' | 'FAILED' | 'ERROR' | 'SKIPPED' | 'XFAIL';

interface Parsed {
  tests: Record<string, TestResult>;
  /** Whether the log proves that the suite ran, for parsers that see failures only. */
  ran: boolean;
}

type Parser = (log: string, exitCode: number) => Parsed;

const consoleAssert: Parser = (log, exitCode) => {
  const good = exitCode === 0 && !log.includes('Assertion failed');
  return { tests: { 'test.js': good ? 'PASSED' : 'FAILED' }, ran: true };
};

const pytest: Parser = (log) => {
  const tests: Record<string, TestResult> = {};
  for (const [, result, test] of log.matchAll(/^(PASSED|FAILED|ERROR|SKIPPED|XFAIL)\s+(\S+)/gm))
    if (test) tests[test] = result as TestResult;
  return { tests, ran: Object.keys(tests).length > 0 };
};

const marked: Parser = (log) => {
  const names = [...log.matchAll(/^\d+\)\s+(.*)$/gm)].map(([, name = '']) => name.trim());
  return {
    tests: Object.fromEntries(names.map((name) => [name, 'FAILED'])),
    ran: /^\d+ specs?, \d+ failures?/m.test(log),
  };
};

/** Mocha's JSON reports, one for each command. */
const prism: Parser = (log) => {
  const tests: Record<string, TestResult> = {};
  for (const [report] of log.matchAll(/^\{\n {2}"stats": \{[\s\S]*?^\}/gm)) {
    const { passes, failures } = JSON.parse(report) as Record<string, { fullTitle: string }[]>;
    for (const { fullTitle } of passes ?? []) tests[fullTitle] = 'PASSED';
    for (const { fullTitle } of failures ?? []) tests[fullTitle] = 'FAILED';
  }
  return { tests, ran: Object.keys(tests).length > 0 };
};

const parsers: Record<string, Parser> = {
  console_assert: consoleAssert,
  parse_log_pytest: pytest,
  parse_log_marked: marked,
  parse_log_prismjs: prism,
};

/** Resolved when every test that must pass does. The exit code is the engine's, not what the log says. */
export function judgeInstance(instance: Instance, { exitCode, output }: Outcome): Verdict {
  if (exitCode === patchRefused) return failed('The patch does not apply.', 'patch_refused');
  if (exitCode === setupFailed) return invalid('infrastructure', output.slice(-400));
  const parse = parsers[instance.log_parser];
  if (!parse) return invalid('no_result', `No parser is called ${instance.log_parser}.`);
  const log = between(output);
  if (log === undefined) return failed('The log has no test output.', 'no_result');
  const { tests, ran } = parse(log, exitCode);
  const anyFailed = Object.values(tests).some(
    (result) => result === 'FAILED' || result === 'ERROR',
  );
  if (!ran || (exitCode !== 0 && !anyFailed))
    return failed(`The tests ended with code ${exitCode} and no result.`, 'no_result');
  const isGood = goodBy(instance.eval_type, tests);
  const wrong = [
    ...instance.FAIL_TO_PASS.filter((test) => !isGood(test, 'FAIL_TO_PASS')),
    ...instance.PASS_TO_PASS.filter((test) => !isGood(test, 'PASS_TO_PASS')),
  ];
  const all = instance.FAIL_TO_PASS.length + instance.PASS_TO_PASS.length;
  if (wrong.length === 0 && all > 0) return passed(`${all} tests are good.`, { tests });
  return failed(`${wrong.length} of ${all} tests are not good.`, 'wrong', { tests });
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
 * Some lists of SWE-bench have ids that are cut off within their parameters, `test[log(a`: the tests that they begin
 * count, if these agree whether they passed.
 */
function resultOf(test: string, tests: Record<string, string>): string | undefined {
  if (tests[test] || test.split('[').length <= test.split(']').length) return tests[test];
  const results = Object.keys(tests)
    .filter((id) => id.startsWith(test))
    .map((id) => tests[id] ?? '');
  const outcomes = new Set(results.map((result) => result === 'PASSED' || result === 'XFAIL'));
  return outcomes.size === 1 ? results[0] : undefined;
}

/** The markers are commands that `set -x` prints, or lines of their own. */
function between(output: string): string | undefined {
  const start = output.indexOf('>>>>> Start Test Output');
  const end = output.lastIndexOf('>>>>> End Test Output');
  return start >= 0 && end > start ? output.slice(start, end) : undefined;
}
