import type { JudgedClaim, Reproduction, Rerun, RerunState } from '@belay/protocol';
import { isTestCommand } from './is-test-command.js';
import type { RerunTrees } from './trees.js';
import {
  checkVerdict,
  reproductionVerdict,
  type Judgement,
  type RerunEnd,
  type ReproductionRuns,
} from './verdict.js';

/** A run with its whole output, and as it is reported. */
export interface MadeRun {
  end: RerunEnd;
  shown: Rerun;
}

export interface WantedRun {
  on: RerunState;
  tree: string;
  command: string;
  /** The reason that is looked for in the output. */
  expects: string | null;
}

export type RunCommand = (wanted: WantedRun) => Promise<MadeRun>;

/**
 * Runs a reproduction `repeat` times, before the change and with it in turn, so that a test which depends on the time
 * does not fit both. Ends early where it cannot be confirmed.
 */
export async function judgeReproduction(
  reproduction: Reproduction,
  {
    trees,
    commands,
    repeat,
    run,
  }: { trees: RerunTrees; commands: readonly string[]; repeat: number; run: RunCommand },
): Promise<JudgedClaim> {
  const { command, files, expects } = reproduction;
  const shown: Rerun[] = [];
  const claimed = ({ verdict, why }: Judgement): JudgedClaim => ({
    claim: 'reproduction',
    verdict,
    why,
    command,
    files,
    expects,
    runs: shown,
  });
  const { withTests, result, guarded } = trees;
  if (withTests === null)
    return claimed({ verdict: 'inconclusive', why: trees.refusal ?? 'It names no test files.' });
  const claim = { command, files, expects, isTest: isTestCommand(command, { commands, files }) };
  const runs: Record<keyof ReproductionRuns, RerunEnd[]> = { before: [], after: [], guarded: [] };
  const add = async (to: RerunEnd[], on: RerunState, tree: string): Promise<void> => {
    const made = await run({ on, tree, command, expects });
    shown.push(made.shown);
    to.push(made.end);
  };
  const judged = (): Judgement => reproductionVerdict(claim, runs);
  for (let times = 0; times < repeat; times += 1) {
    await add(runs.before, 'base+tests', withTests);
    await add(runs.after, 'result', result);
    if (judged().verdict !== 'confirmed') return claimed(judged());
  }
  if (guarded !== null) await add(runs.guarded, 'guarded', guarded);
  return claimed(judged());
}

/** Runs a check before the change and with it, and also with the tests from before where the change edits some. */
export async function judgeCheck(
  command: string,
  { trees, run }: { trees: RerunTrees; run: RunCommand },
): Promise<JudgedClaim> {
  const runOn = (on: RerunState, tree: string): Promise<MadeRun> =>
    run({ on, tree, command, expects: null });
  const before = await runOn('base', trees.base);
  const after = await runOn('result', trees.result);
  const { guardedTests } = trees;
  const guarded = guardedTests === null ? null : await runOn('guarded', guardedTests);
  const ends = { before: before.end, after: after.end, guarded: guarded && guarded.end };
  const shown = [before, after, ...(guarded ? [guarded] : [])].map((one) => one.shown);
  return { claim: 'check', ...checkVerdict(ends), command, runs: shown };
}
