import { oracle } from './agents/baselines.js';
import type { TrialContext } from './agents/agent.js';
import type { Artifacts } from './artifacts.js';
import { fail, type Step, type Verdict } from './model.js';
import type { Validity } from './validity.js';
import { secondCheck, type CheckResult, type Verified } from './second-check.js';
import { verify } from './verify.js';

/**
 * The names of the tests that the reference solution passes. A run that skips, renames or leaves out one of them has
 * not passed, whatever its runner reports. Preflights store the names; for a task without them, the first passing
 * trial triggers the check.
 */
export class References {
  readonly #passing = new Map<string, Promise<string[]>>();
  readonly #second = new Map<string, Promise<CheckResult | null>>();

  constructor(known: Validity[] = []) {
    for (const { task, tests } of known) if (tests) this.#passing.set(task, Promise.resolve(tests));
  }

  /** The verdict after a comparison with the reference's own run. Throws when the engine fails. */
  async heldAgainst(verdict: Verdict, context: TrialContext, step: Step): Promise<Verdict> {
    const { tests } = verdict;
    const { task } = context;
    // SWE-Bench names its tests in the data; of several steps each builds on the one before.
    if (verdict.outcome !== 'pass' || !tests || task.tests || task.steps.length > 1) return verdict;
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
   * A pass after a second run of its tests: failed when tests that must fail did not, or when a third run differs from
   * the first one, too; flagged when only the second does, as tests may be unsteady. What the reference does as well
   * says nothing. Throws for a failure of the engine.
   */
  async heldTwice(verdict: Verdict, trial: Verified): Promise<Verdict> {
    if (verdict.outcome !== 'pass' || trial.context.task.steps.length > 1) return verdict;
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

  /** What a second run finds, without what the reference's own has too. */
  async #beyondReference(verdict: Verdict, trial: Verified): Promise<CheckResult | null> {
    const found = await secondCheck(verdict, trial);
    if (!found?.cheated && !found?.differs) return null;
    const own = await this.#secondOf(verdict, trial);
    return {
      cheated: own?.cheated ? null : found.cheated,
      differs: own?.differs ? null : found.differs,
    };
  }

  /** What the second run of the reference says beside the first of a trial that passed. */
  #secondOf(verdict: Verdict, { context, step }: Verified): Promise<CheckResult | null> {
    const { id } = context.task;
    let found = this.#second.get(id);
    if (!found) {
      found = withReference(context, step, (artifacts) =>
        secondCheck(verdict, { context, step, artifacts }),
      );
      this.#second.set(id, found);
      found.catch(() => this.#second.delete(id));
    }
    return found;
  }

  #passedIn(context: TrialContext, step: Step): Promise<string[]> {
    const { id } = context.task;
    let found = this.#passing.get(id);
    if (!found) {
      found = referenceRun(context, step);
      this.#passing.set(id, found);
      found.catch(() => this.#passing.delete(id));
    }
    return found;
  }
}

const referenceRun = (context: TrialContext, step: Step): Promise<string[]> =>
  withReference(
    context,
    step,
    async (artifacts) => passingOf((await verify(context, step, artifacts)).verdict) ?? [],
  );

async function withReference<T>(
  context: TrialContext,
  step: Step,
  work: (artifacts: Artifacts) => Promise<T>,
): Promise<T> {
  const instance = await oracle.setup(context);
  try {
    return await work(await instance.run(step, null));
  } finally {
    await instance.stop();
  }
}

const pick = ({ tests }: Verdict): Partial<Verdict> => (tests ? { tests } : {});

/** The names of the tests that passed; undefined when the format has none. */
export const passingOf = ({ tests }: Verdict): string[] | undefined =>
  tests && Object.keys(tests).filter((name) => tests[name] === 'PASSED');
