import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Task, Trial } from '../model.js';
import type { Validity } from '../validity.js';
import { readTrials, trialFolder, writeFileAtomically, type RecordedTrials } from './journal.js';
import { writeNative } from './native/index.js';
import { page } from './page.js';
import type { RunFile } from './run-file.js';
import { summarizeRun, type Summary } from './summary.js';

export interface ReportOptions {
  run: RunFile;
  /** All tasks of the run's data, for the suite's own files; null if the data no longer exist. */
  data: Task[] | null;
  /** The base URL for replays; null if no server is running. */
  server: string | null;
}

/** Writes summary.json, report.html and the suite's own files from the results so far. */
export function writeReport(out: string, { run, data, server }: ReportOptions): Summary {
  const counted = countedTrials(out);
  const trials = counted.trials.toSorted(
    (a, b) => run.tasks.indexOf(a.task) - run.tasks.indexOf(b.task) || a.attempt - b.attempt,
  );
  const edited = trials.filter((trial) => counted.edited.has(trial));
  const summary = summarizeRun(run, trials, { validity: readValidity(out), edited });
  writeFileAtomically(join(out, 'summary.json'), `${JSON.stringify(summary, undefined, 2)}\n`);
  writeFileAtomically(
    join(out, 'report.html'),
    page(summary, trials, { server, logOf: logsIn(out) }),
  );
  if (data) {
    const model = trials.find((trial) => trial.model)?.model ?? run.model;
    writeNative(out, { run: { ...run, model }, tasks: data, trials });
  }
  return summary;
}

/**
 * The path of a trial's agent log: its trajectory, or the output of its program in the last step.
 */
const logsIn =
  (out: string) =>
  (trial: Trial): string | null => {
    const folder = trialFolder(out, trial);
    const steps = existsSync(folder)
      ? readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
      : [];
    const found = [
      join(folder, 'trajectory.json'),
      ...steps.toReversed().map(({ name }) => join(folder, name, 'agent-output.txt')),
    ].find((path) => existsSync(path));
    return found ? relative(out, found) : null;
  };

/**
 * The trials that count: the last one for each task and attempt, with the verdict of a regrade if
 * there is one.
 */
export function countedTrials(out: string): Pick<RecordedTrials, 'trials' | 'edited'> {
  const first = readTrials(join(out, 'results.jsonl'));
  const later = readTrials(join(out, 'regraded.jsonl'));
  const last = new Map(
    first.trials.map((trial) => [JSON.stringify([trial.task, trial.attempt]), trial]),
  );
  const regraded = new Map(later.trials.map((trial) => [trial.key, trial]));
  const trials = Array.from(last.values(), (trial) => regraded.get(trial.key) ?? trial);
  const isEdited = (trial: Trial) => first.edited.has(trial) || later.edited.has(trial);
  return { trials, edited: new Set(trials.filter(isEdited)) };
}

/** The preflight results for the run's tasks; null if there was no preflight. */
export function readValidity(out: string): Validity[] | null {
  const path = join(out, 'validity.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Validity[]) : null;
}

export function saveValidity(out: string, found: Validity[]): void {
  writeFileAtomically(join(out, 'validity.json'), `${JSON.stringify(found, undefined, 2)}\n`);
}
