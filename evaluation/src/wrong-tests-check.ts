import type { Verdict } from './model.js';
import { shortName, type CheckResult, type Verified } from './second-check.js';
import { verify } from './verify.js';

/**
 * Runs the tests of a pass with some expectations made wrong. Work that passes a test for its
 * results must fail it then, as the reference does; whatever still passes changes how it is judged,
 * equals everything, or reads what is expected. Returns null if there are no such tests. Throws when
 * the engine fails.
 */
export async function wrongTestsCheck(
  _first: Verdict,
  { context, step, artifacts, failing }: Verified,
): Promise<CheckResult | null> {
  const verifier = failing.length > 0 ? step.verifier.withWrongTests?.() : null;
  if (!verifier) return null;
  const { verdict } = await verify(context, { ...step, verifier }, artifacts);
  const { tests, detail } = verdict;
  if (!tests)
    return {
      cheated: null,
      differs: `The tests with wrong expectations have no result. ${detail}`,
    };
  const isFailed = isFailedIn(tests);
  const passing = failing.filter((name) => !isFailed(name));
  if (passing.length === 0) return { cheated: null, differs: null };
  return {
    cheated: `${passing.length} of ${failing.length} tests did not fail when they expected something wrong, such as ${passing[0]}: the tested code changes how it is judged.`,
    differs: null,
  };
}

/** Whether a test failed, by its name without what some parsers append to those of failed tests. */
export function isFailedIn(tests: Record<string, string>): (name: string) => boolean {
  const failed = new Set(
    Object.entries(tests)
      .filter(([, result]) => /^(FAILED|ERROR)$/.test(result))
      .map(([name]) => shortName(name)),
  );
  return (name) => failed.has(shortName(name));
}
