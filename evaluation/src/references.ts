import { oracle } from './agents/baselines.js';
import type { TrialContext } from './agents/agent.js';
import type { Artifacts } from './artifacts.js';
import { fail, type Step, type Verdict } from './model.js';
import type { Validity } from './validity.js';
import { secondCheck, type CheckResult, type Verified } from './second-check.js';
import { verify } from './verify.js';

/**
 * The names of the tests that the reference solution passes in a step. A run that skips, renames or
 * omits one of them fails, whatever its runner reports. Preflights store the names for tasks of one
 * step; otherwise, the first passing trial triggers a run of the reference.
 */
export class References {
  readonly #passing = new Map<string, Promise<string[]>>();
  readonly #second = new Map<string, Promise<CheckResult | null>>();

  readonly #stored: ReadonlyMap<string, string[]>;

  constructor(known: Validity[] = []) {
    this.#stored = new Map(known.flatMap(({ task, tests }) => (tests ? [[task, tests]] : [])));
  }

  /**
   * The verdict after comparing the tests with those that the reference passes. Throws when the
   * engine fails.
   */
  async heldAgainst(verdict: Verdict, context: TrialContext, step: Step): Promise<Verdict> {
    const { tests } = verdict;
    const { task } = context;
    // SWE-Bench lists its tests in the data.
    if (verdict.outcome !== 'pass' || !tests || task.tests) return verdict;
    const expected = await this.#passedIn(context, step);
    const missing = expected.filter((name) => tests[name] !== 'PASSED');
    if (missing.length === 0) return verdict;
    return fail(
      `${missing.length} of ${expected.length} tests that the reference solution passes were skipped or not run, such as ${missing[0]}.`,
      'wrong',
      { tests },
    );
  }

  /**
   * Checks a pass with a second run of its tests. Fails it if tests that must fail passed, or if a
   * third run differs from the first one as well; flags it if only the second run differs, because
   * tests may be flaky. Ignores findings that the reference shows as well. Throws when the engine
   * fails.
   */
  async heldTwice(verdict: Verdict, run: Omit<Verified, 'reference'>): Promise<Verdict> {
    if (verdict.outcome !== 'pass') return verdict;
    const isListed = verdict.tests && !run.context.task.tests;
    const reference = isListed ? await this.#passedIn(run.context, run.step) : [];
    const trial = { ...run, reference };
    const found = await this.#beyondReference(verdict, trial);
    if (found?.cheated) return fail(found.cheated, 'wrong', pick(verdict));
    if (!found?.differs) return verdict;
    const flags = [found.differs];
    const third = await secondCheck(verdict, trial);
    const again = third?.cheated ?? third?.differs;
    if (!again) return { ...verdict, flags };
    const detail = `Different in a second and a third run of the tests: ${again}`;
    return fail(detail, 'wrong', { ...pick(verdict), flags });
  }

  /** The findings of a second run, without those that the reference shows as well. */
  async #beyondReference(verdict: Verdict, trial: Verified): Promise<CheckResult | null> {
    const found = await secondCheck(verdict, trial);
    if (!found?.cheated && !found?.differs) return null;
    const own = await this.#secondOf(verdict, trial);
    return {
      cheated: own?.cheated ? null : found.cheated,
      differs: own?.differs ? null : found.differs,
    };
  }

  /**
   * The findings of a second run with the reference, compared with the first run of a passing
   * trial.
   */
  #secondOf(verdict: Verdict, trial: Verified): Promise<CheckResult | null> {
    const { context, step } = trial;
    const key = keyOf(context, step);
    let found = this.#second.get(key);
    if (!found) {
      found = withReference(context, step, (artifacts) =>
        secondCheck(verdict, { ...trial, artifacts }),
      );
      this.#second.set(key, found);
      found.catch(() => this.#second.delete(key));
    }
    return found;
  }

  async #passedIn(context: TrialContext, step: Step): Promise<string[]> {
    const stored = this.#stored.get(context.task.id);
    if (stored && context.task.steps.length === 1) return stored;
    const key = keyOf(context, step);
    let found = this.#passing.get(key);
    if (!found) {
      found = referenceRun(context, step);
      this.#passing.set(key, found);
      found.catch(() => this.#passing.delete(key));
    }
    return found;
  }
}

const keyOf = ({ task }: TrialContext, step: Step): string => JSON.stringify([task.id, step.name]);

const referenceRun = (context: TrialContext, step: Step): Promise<string[]> =>
  withReference(
    context,
    step,
    async (artifacts) => passingOf((await verify(context, step, artifacts)).verdict) ?? [],
  );

/** Each step of a task builds on the previous ones, so the reference makes those first. */
async function withReference<T>(
  context: TrialContext,
  step: Step,
  work: (artifacts: Artifacts) => Promise<T>,
): Promise<T> {
  const { steps } = context.task;
  const instance = await oracle.setup(context);
  try {
    for (const before of steps.slice(0, steps.indexOf(step))) await instance.run(before, null);
    return await work(await instance.run(step, null));
  } finally {
    await instance.stop();
  }
}

const pick = ({ tests }: Verdict): Partial<Verdict> => (tests ? { tests } : {});

/** The names of the tests that passed; undefined when the format has none. */
export const passingOf = ({ tests }: Verdict): string[] | undefined =>
  tests && Object.keys(tests).filter((name) => tests[name] === 'PASSED');
