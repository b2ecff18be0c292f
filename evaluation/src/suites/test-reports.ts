import { fail, invalid, pass, type VerifierOutput, type Verdict } from '../model.js';
import type { TestResults } from './test-log.js';

export interface Counts {
  tests: number;
  failed: number;
}

/**
 * The totals of a JUnit report, which pytest, Catch2 and JUnit's console launcher write; undefined
 * if it is not one.
 */
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

/**
 * The results in a JUnit report, by name, ignoring the output of tests. Undefined if the suites
 * count fewer tests.
 */
export function junitTests(report: Buffer | undefined): TestResults | undefined {
  const text = (report?.toString() ?? '').replace(/<!\[CDATA\[[\s\S]*?\]\]>/g, '');
  const tests: TestResults = {};
  const cases = text.matchAll(/<testcase\b((?:[^>"]|"[^"]*")*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g);
  let found = 0;
  for (const [, attributes = '', content = ''] of cases) {
    const of = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
    const name = `${of('classname')}.${of('name')}`;
    const bad = /<(failure|error)\b/.test(content);
    const outcome = bad ? 'FAILED' : /<skipped\b/.test(content) ? 'SKIPPED' : 'PASSED';
    let own = name;
    for (let number = 2; own in tests; number += 1) own = `${name} #${number}`;
    tests[own] = outcome;
    found += 1;
  }
  // Catch2 counts assertions, of which a test may have many.
  return found > 0 && found <= (junitCounts(report)?.tests ?? 0) ? tests : undefined;
}

/** The verdict of a JUnit report, with the names of its tests. */
export function judgeJunit(given: VerifierOutput, path: string): Verdict {
  const report = given.files.get(path);
  const counts = junitCounts(report);
  const tests = junitTests(report);
  const verdict = judgeReport(given, counts);
  if (verdict.outcome !== 'pass') return { ...verdict, ...(tests && { tests }) };
  if (!tests) return fail('The report does not name all the tests that it counts.', 'no_result');
  const good = Object.values(tests).filter((result) => result === 'PASSED').length;
  return good === 0
    ? invalid('no_result', 'No test ran: all of them were skipped.')
    : pass(`${good} tests passed.`, { tests });
}

/**
 * The runner's report must agree with its exit code: a program that ends the runner early with code
 * 0, or prints what a passed run would print, has no report.
 */
export function judgeReport(
  { exitCode, output }: VerifierOutput,
  counts: Counts | undefined,
): Verdict {
  if (exitCode !== 0) return fail(`The tests exited with code ${exitCode}.`);
  if (!counts) return fail('The tests exited with code 0 but left no report.', 'no_result');
  if (counts.tests === 0) return invalid('no_result', `No test ran. ${output.slice(-200)}`);
  if (counts.failed > 0) return fail(`${counts.failed} of ${counts.tests} tests failed.`);
  return pass(`${counts.tests} tests passed.`);
}
