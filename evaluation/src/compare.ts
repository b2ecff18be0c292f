import { AppError } from '@belay/protocol';
import type { Trial } from './model.js';
import type { Validity } from './validity.js';
import { mean, pairedDifference, signTest } from './statistics.js';

export interface RunComparison {
  /** Tasks that both runs have. */
  tasks: number;
  a: number;
  b: number;
  /** The mean of B minus A over the tasks, with its 95% interval. */
  difference: number;
  interval: [number, number];
  better: string[];
  worse: string[];
  /** The p-value of the exact two-sided sign test over the tasks. */
  p: number;
  /** Preflight results for these tasks, from either run. */
  validity: { checked: number; flagged: string[] };
  /** The difference over the tasks that were not flagged; null if no task was flagged. */
  unflagged: { tasks: number; difference: number; interval: [number, number] } | null;
  /** How many trials of both runs have changed since they were recorded. */
  edited: number;
}

export interface Compared {
  trials: Trial[];
  validity: Validity[] | null;
  /** Those of the trials that have changed since they were recorded. */
  edited?: ReadonlySet<Trial>;
}

/** Compares two runs task by task, so that differences between tasks are not counted as noise. */
export function compareTrials(a: Compared, b: Compared): RunComparison {
  const [first, second] = [byTask(a.trials), byTask(b.trials)];
  // Sorted by name, because trials end in any order, which must not affect the comparison.
  const tasks = [...first].toSorted(([one], [other]) => one.localeCompare(other));
  const pairs = tasks.flatMap(([task, reward]) => {
    const other = second.get(task);
    return other === undefined ? [] : [{ task, a: reward, b: other, by: other - reward }];
  });
  if (pairs.length === 0)
    throw new AppError(
      'invalid_input',
      'The two runs have no tasks in common, so there is nothing to compare. Name two runs on the same data.',
    );
  const better = pairs.filter(({ by }) => by > 0).map(({ task }) => task);
  const worse = pairs.filter(({ by }) => by < 0).map(({ task }) => task);
  const { mean: difference, interval } = pairedDifference(pairs.map(({ by }) => by));
  return {
    tasks: pairs.length,
    a: mean(pairs.map((pair) => pair.a)),
    b: mean(pairs.map((pair) => pair.b)),
    difference,
    interval,
    better,
    worse,
    p: signTest(better.length, worse.length),
    edited: (a.edited?.size ?? 0) + (b.edited?.size ?? 0),
    ...validityOf(pairs, [...(a.validity ?? []), ...(b.validity ?? [])]),
  };
}

function validityOf(
  pairs: { task: string; by: number }[],
  found: Validity[],
): Pick<RunComparison, 'validity' | 'unflagged'> {
  const checked = new Set(found.map(({ task }) => task));
  const bad = new Set(found.filter(({ valid }) => !valid).map(({ task }) => task));
  const flagged = pairs.filter(({ task }) => bad.has(task)).map(({ task }) => task);
  const good = pairs.filter(({ task }) => !bad.has(task));
  const { mean: difference, interval } = pairedDifference(good.map(({ by }) => by));
  return {
    validity: { checked: pairs.filter(({ task }) => checked.has(task)).length, flagged },
    unflagged: flagged.length > 0 ? { tasks: good.length, difference, interval } : null,
  };
}

function byTask(trials: Trial[]): Map<string, number> {
  const tasks = new Set(trials.map(({ task }) => task));
  const reward = (task: string) =>
    mean(trials.filter((trial) => trial.task === task).map(({ verdict }) => verdict.reward));
  return new Map([...tasks].map((task) => [task, reward(task)]));
}
