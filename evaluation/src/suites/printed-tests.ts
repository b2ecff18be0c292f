import { fail, invalid, pass, type Verdict, type VerifierOutput } from '../model.js';
import type { TestResult, TestResults } from './test-log.js';

/**
 * For runners that only print. Test names printed by the tested program gain nothing: the exit code
 * is the engine's, and each test that the reference solution passes must be present.
 */
export const judgePrinted =
  (testsIn: (output: string) => TestResults) =>
  ({ exitCode, output }: VerifierOutput): Verdict => {
    const tests = testsIn(output);
    const results = Object.values(tests);
    if (exitCode !== 0) return fail(`The tests exited with code ${exitCode}.`, 'wrong', { tests });
    if (results.includes('FAILED')) return fail('A test failed.', 'wrong', { tests });
    if (!results.includes('PASSED'))
      return invalid('no_result', `No test ran. ${output.slice(-200)}`);
    const count = results.filter((result) => result === 'PASSED').length;
    return pass(`${count} tests passed.`, { tests });
  };

/** Reads `go test -v`. A name that occurs in two packages has passed if both have. */
export const goTests = (output: string): TestResults =>
  collected(output.matchAll(/^[^\S\n]*--- (?<word>PASS|FAIL|SKIP): (?<name>\S+)/gm));

/** Reads `cargo test`, with all of its test programs. */
export const rustTests = (output: string): TestResults =>
  collected(
    output.matchAll(/^test (?<name>\S+)(?: - should panic)? \.\.\. (?<word>ok|FAILED|ignored)/gm),
  );

const words: Record<string, TestResult> = {
  PASS: 'PASSED',
  ok: 'PASSED',
  FAIL: 'FAILED',
  FAILED: 'FAILED',
};

function collected(lines: Iterable<RegExpMatchArray>): TestResults {
  const tests = new Map<string, TestResult>();
  for (const { groups: { name = '', word = '' } = {} } of lines)
    if (tests.get(name) !== 'FAILED') tests.set(name, words[word] ?? 'SKIPPED');
  return Object.fromEntries(tests);
}
