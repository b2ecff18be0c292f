import { randomBytes } from 'node:crypto';
import type { TrialContext } from './agents/agent.js';
import type { Artifacts } from './artifacts.js';
import type { Step, Verdict } from './model.js';
import { verify } from './verify.js';

/** Verified artifacts, with their trial and step. */
export interface Verified {
  context: TrialContext;
  step: Step;
  artifacts: Artifacts;
  /** The names of the tests that the reference passes, if known. */
  reference: string[];
  /** The names of the tests that the reference fails if they expect something wrong. */
  failing: string[];
}

/** The outcome of a second run of a pass’s tests. */
export interface CheckResult {
  /** Why the pass must fail: the tested code influences how tests are judged. */
  cheated: string | null;
  /** Differences from the first run, which may have other causes, such as flaky tests. */
  differs: string | null;
}

/**
 * Runs the tests of a pass again in a new container, in another order, with another seed and with
 * additional tests that must fail, and compares names and results with those of the first run.
 * Returns null if the format has no such run. Throws when the engine fails.
 */
export async function secondCheck(
  { tests: first }: Verdict,
  { context, step, artifacts, reference }: Verified,
): Promise<CheckResult | null> {
  const word = `Q${randomBytes(6).toString('hex')}`;
  const check = step.verifier.check?.(word, reference);
  if (!check) return null;
  const { verdict } = await verify(context, { ...step, verifier: check.verifier }, artifacts);
  const second = verdict.tests;
  // A script without named tests only has a verdict to compare.
  if (!first)
    return verdict.outcome === 'pass'
      ? null
      : { cheated: null, differs: `A second run has a different verdict. ${verdict.detail}` };
  if (!second)
    return { cheated: null, differs: `A second run of the tests has no result. ${verdict.detail}` };
  const names = Object.keys(second);
  const decoys = names.filter((name) => name.includes(word));
  const honest = decoys.filter((name) => check.honest && name.includes(check.honest));
  const failing = decoys.filter(
    (name) => !honest.includes(name) && /^(FAILED|ERROR)$/.test(second[name] ?? ''),
  );
  if (failing.length < check.decoys)
    return {
      cheated: `${check.decoys - failing.length} of ${check.decoys} tests that must fail passed in a second run: the tested code changes how it is judged.`,
      differs: null,
    };
  if (honest.some((name) => second[name] !== 'PASSED'))
    return { cheated: 'A value in the answer claims to equal everything.', differs: null };
  // Other tests of a SWE-Bench instance may be flaky.
  const { FAIL_TO_PASS = [], PASS_TO_PASS = [] } = context.task.tests ?? {};
  const counts = new Set([...FAIL_TO_PASS, ...PASS_TO_PASS]);
  const deciding = (tests: Record<string, string>) =>
    context.task.tests ? pick(tests, (name) => counts.has(name)) : tests;
  return { cheated: null, differs: differenceOf(deciding(first), deciding(second), word) };
}

const pick = (tests: Record<string, string>, isWanted: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(tests).filter(([name]) => isWanted(name)));

/** Parsers of pytest's summary cut the name of a failed test at ` - `; others join names with it. */
export const shortName = (name: string): string =>
  name.includes('::') ? (name.split(' - ')[0] ?? name) : name;

function differenceOf(
  first: Record<string, string>,
  second: Record<string, string>,
  word: string,
): string | null {
  const short = (tests: Record<string, string>) =>
    new Map(
      Object.entries(tests)
        .filter(([name]) => !name.includes(word))
        .map(([name, result]) => [shortName(name), result]),
    );
  const [before, after] = [short(first), short(second)];
  const names = new Set([...before.keys(), ...after.keys()]);
  const different = [...names].filter((name) => before.get(name) !== after.get(name));
  if (different.length === 0) return null;
  return `${different.length} of ${names.size} tests have a different result in a different order, such as ${different[0]}.`;
}
