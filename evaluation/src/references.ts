import { oracle } from './agents/baselines.js';
import type { TrialContext } from './agents/agent.js';
import { withServices } from './agents/with-services.js';
import type { Artifacts } from './artifacts.js';
import { fail, type Step, type Verdict } from './model.js';
import type { Validity } from './validity.js';
import { secondCheck, type CheckResult, type Verified } from './second-check.js';
import { verify } from './verify.js';
import { isFailedIn, wrongTestsCheck } from './wrong-tests-check.js';

/**
 * The names of the tests that the reference solution passes in a step. A run that skips, renames or
 * omits one of them fails, whatever its runner reports. Preflights store the names for tasks of one
 * step; otherwise, the first passing trial triggers a run of the reference.
 */
export class References {
  readonly #passing = new Map<string, Promise<string[]>>();
  readonly #failing = new Map<string, Promise<string[]>>();
  readonly #checked = new Map<string, Promise<CheckResult | null>>();

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
   * Checks a pass with further runs of its tests: with wrong expectations, and with tests that must
   * fail. Fails it if tests that must fail passed, or if a repeated run differs as well; flags it if
   * only the first one differs, because tests may be flaky. Ignores findings that the reference
   * shows as well. Throws when the engine fails.
   */
  async heldTwice(
    verdict: Verdict,
    run: Omit<Verified, 'reference' | 'failing'>,
  ): Promise<Verdict> {
    // Services keep what the first run of the tests did to them.
    if (verdict.outcome !== 'pass' || run.context.services) return verdict;
    const { context, step } = run;
    const isListed = verdict.tests && !context.task.tests;
    const reference = isListed ? await this.#passedIn(context, step) : [];
    const failing = await this.#failingIn(context, step, listedTests(context) ?? reference);
    const trial = { ...run, reference, failing };
    let held = verdict;
    for (const name of checkNames) {
      held = await this.#heldBy(name, held, trial);
      if (held.outcome !== 'pass') break;
    }
    return held;
  }

  async #heldBy(name: CheckName, verdict: Verdict, trial: Verified): Promise<Verdict> {
    const found = await this.#beyondReference(name, verdict, trial);
    if (found?.cheated) return fail(found.cheated, 'wrong', pick(verdict));
    if (!found?.differs) return verdict;
    const flags = [...(verdict.flags ?? []), found.differs];
    const repeated = await checks[name](verdict, trial);
    const again = repeated?.cheated ?? repeated?.differs;
    if (!again) return { ...verdict, flags };
    const detail = `Different in a second and a third run of the tests: ${again}`;
    return fail(detail, 'wrong', { ...pick(verdict), flags });
  }

  /** The findings of a check, without those that the reference shows as well. */
  async #beyondReference(
    name: CheckName,
    verdict: Verdict,
    trial: Verified,
  ): Promise<CheckResult | null> {
    const found = await checks[name](verdict, trial);
    if (!found?.cheated && !found?.differs) return null;
    const own = await this.#checkedReference(name, verdict, trial);
    return {
      cheated: own?.cheated ? null : found.cheated,
      differs: own?.differs ? null : found.differs,
    };
  }

  /** The findings of a check with the reference, compared with the first run of a passing trial. */
  #checkedReference(
    name: CheckName,
    verdict: Verdict,
    trial: Verified,
  ): Promise<CheckResult | null> {
    const { context, step } = trial;
    return onceIn(this.#checked, `${name} ${keyOf(context, step)}`, () =>
      withReference(context, step, (artifacts, own) =>
        checks[name](verdict, { ...trial, artifacts, context: own }),
      ),
    );
  }

  /** The tests that the reference passes, and fails once their expectations are wrong. */
  #failingIn(context: TrialContext, step: Step, passing: string[]): Promise<string[]> {
    const verifier = passing.length > 0 ? step.verifier.withWrongTests?.() : null;
    if (!verifier) return Promise.resolve([]);
    return onceIn(this.#failing, keyOf(context, step), () =>
      withReference(context, step, async (artifacts, own) => {
        const { verdict } = await verify(own, { ...step, verifier }, artifacts);
        return passing.filter(isFailedIn(verdict.tests ?? {}));
      }),
    );
  }

  async #passedIn(context: TrialContext, step: Step): Promise<string[]> {
    const stored = this.#stored.get(context.task.id);
    if (stored && context.task.steps.length === 1) return stored;
    return onceIn(this.#passing, keyOf(context, step), () => referenceRun(context, step));
  }
}

const checks = { wrongTests: wrongTestsCheck, decoys: secondCheck };
type CheckName = keyof typeof checks;
const checkNames: CheckName[] = ['wrongTests', 'decoys'];

/** The tests that SWE-Bench's data name. */
const listedTests = ({ task: { tests } }: TrialContext): string[] | undefined =>
  tests && [...tests.FAIL_TO_PASS, ...tests.PASS_TO_PASS];

/** The result of `make`, which runs once for each key unless it fails. */
function onceIn<T>(
  known: Map<string, Promise<T>>,
  key: string,
  make: () => Promise<T>,
): Promise<T> {
  const before = known.get(key);
  if (before) return before;
  const made = make();
  known.set(key, made);
  made.catch(() => known.delete(key));
  return made;
}

const keyOf = ({ task }: TrialContext, step: Step): string => JSON.stringify([task.id, step.name]);

const referenceRun = (context: TrialContext, step: Step): Promise<string[]> =>
  withReference(
    context,
    step,
    async (artifacts, own) => passingOf((await verify(own, step, artifacts)).verdict) ?? [],
  );

/** Each step of a task builds on the previous ones, so the reference makes those first. */
function withReference<T>(
  context: TrialContext,
  step: Step,
  work: (artifacts: Artifacts, context: TrialContext) => Promise<T>,
): Promise<T> {
  const { steps } = context.task;
  return withServices(context, async (own) => {
    const instance = await oracle.setup(own);
    try {
      for (const before of steps.slice(0, steps.indexOf(step))) await instance.run(before, null);
      return await work(await instance.run(step, null), own);
    } finally {
      await instance.stop();
    }
  });
}

const pick = ({ tests }: Verdict): Partial<Verdict> => (tests ? { tests } : {});

/** The names of the tests that passed; undefined when the format has none. */
export const passingOf = ({ tests }: Verdict): string[] | undefined =>
  tests && Object.keys(tests).filter((name) => tests[name] === 'PASSED');
