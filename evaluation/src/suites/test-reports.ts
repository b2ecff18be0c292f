import { failed, invalid, passed, type Outcome, type Verdict } from '../model.js';

export interface Counts {
  tests: number;
  failed: number;
}

/** Sums of a JUnit report, which pytest, Catch2 and JUnit's console launcher write. Not a result: undefined. */
export function junitCounts(report: Buffer | undefined): Counts | undefined {
  const suites = [...(report?.toString() ?? '').matchAll(/<testsuite\s([^>]*)>/g)];
  if (suites.length === 0) return undefined;
  const sum = (name: string) =>
    suites.reduce((total, [, attributes = '']) => {
      const value = new RegExp(`\\b${name}="(\\d+)"`).exec(attributes)?.[1];
      return total + Number(value ?? 0);
    }, 0);
  return { tests: sum('tests'), failed: sum('failures') + sum('errors') };
}

/** Sums of Jest's JSON report. */
export function jestCounts(report: Buffer | undefined): Counts | undefined {
  if (!report) return undefined;
  const found = JSON.parse(report.toString()) as {
    numPassedTests: number;
    numFailedTests: number;
    numFailedTestSuites: number;
  };
  return {
    tests: found.numPassedTests + found.numFailedTests,
    failed: found.numFailedTests + found.numFailedTestSuites,
  };
}

/**
 * The runner's report must agree with its exit code: a program that ends the runner early with code 0, or
 * prints what a passed run would print, has no report.
 */
export function judgeReport({ exitCode, output }: Outcome, counts: Counts | undefined): Verdict {
  if (exitCode !== 0) return failed(`The tests ended with code ${exitCode}.`);
  if (!counts) return failed('The tests ended with code 0 and left no report.', 'no_result');
  if (counts.tests === 0) return invalid('no_result', `No test ran. ${output.slice(-200)}`);
  if (counts.failed > 0) return failed(`${counts.failed} of ${counts.tests} tests failed.`);
  return passed(`${counts.tests} tests passed.`);
}
