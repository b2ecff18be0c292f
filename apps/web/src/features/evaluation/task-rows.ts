import type { EvaluationTrial } from '@belay/protocol';
import { trialCellKey, type Trials } from './queries';
import type { TrialStatus } from './run-words';

/** The table’s filter, stored in the URL. */
export interface TrialFilter {
  q?: string | undefined;
  show?: 'pass' | 'fail' | 'invalid' | 'running' | 'queued' | undefined;
}

export interface TaskRow {
  task: string;
  /** One for each attempt; undefined if not reported yet, which means queued. */
  trials: (EvaluationTrial | undefined)[];
  /** Why preflight flagged the task. */
  flagged: string | undefined;
}

interface Run {
  tasks: readonly string[];
  attempts: number;
  flagged: readonly { task: string; why: string }[];
}

/** The tasks with all their attempts, in order; included if any attempt matches the filter. */
export function taskRows(run: Run, trials: Trials, { q, show }: TrialFilter): TaskRow[] {
  const why = new Map(run.flagged.map((each) => [each.task, each.why]));
  const wanted = q?.toLowerCase();
  return run.tasks
    .filter((task) => !wanted || task.toLowerCase().includes(wanted))
    .map((task) => ({
      task,
      flagged: why.get(task),
      trials: Array.from({ length: run.attempts }, (_, index) =>
        trials.byKey.get(trialCellKey(task, index + 1)),
      ),
    }))
    .filter((row) => !show || row.trials.some((trial) => kindOf(shownOf(trial)) === show));
}

/**
 * The trials of a run that has ended: those that it was working on have no verdict and wait for it
 * to be resumed.
 */
export const trialsAtRest = ({ seq, byKey }: Trials): Trials => ({
  seq,
  byKey: new Map(
    [...byKey].map(([key, trial]) => [key, trial.verdict ? trial : { ...trial, state: 'queued' }]),
  ),
});

export const shownOf = (trial: EvaluationTrial | undefined): TrialStatus =>
  trial?.verdict?.outcome ?? (trial && trial.state !== 'done' ? trial.state : 'queued');

const kindOf = (shown: TrialStatus): TrialFilter['show'] =>
  shown === 'building' || shown === 'working' || shown === 'verifying' ? 'running' : shown;
