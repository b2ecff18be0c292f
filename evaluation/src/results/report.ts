import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Trial } from '../model.js';
import type { Validity } from '../preflight.js';
import { suiteNamed } from '../suites/index.js';
import { readTrials, writeWhole } from './journal.js';
import { writeNative } from './native/index.js';
import { page } from './page.js';
import { loadRun } from './run-file.js';
import { summarize, type Summary } from './summary.js';

/** Writes summary.json, report.html and the suite's own files from the results that there are. */
export function writeReport(out: string, server: string | null): Summary {
  const run = loadRun(out);
  const trials = trialsOf(out).toSorted(
    (a, b) => run.tasks.indexOf(a.task) - run.tasks.indexOf(b.task) || a.attempt - b.attempt,
  );
  const summary = summarize(run, trials, validityOf(out));
  writeWhole(join(out, 'summary.json'), `${JSON.stringify(summary, undefined, 2)}\n`);
  writeWhole(join(out, 'report.html'), page(summary, trials, server));
  if (existsSync(run.data)) {
    const tasks = suiteNamed(run.suite).read(run.data);
    const model = trials.find((trial) => trial.model)?.model ?? run.model;
    writeNative(out, { run: { ...run, model }, tasks, trials });
  }
  return summary;
}

/** The trials that count: of one task and attempt the last, and a regrade takes the place of its verdict. */
export function trialsOf(out: string): Trial[] {
  const lines = readTrials(join(out, 'results.jsonl')).trials;
  const last = new Map(lines.map((trial) => [JSON.stringify([trial.task, trial.attempt]), trial]));
  const trials = [...last.values()];
  const regraded = new Map(
    readTrials(join(out, 'regraded.jsonl')).trials.map((trial) => [trial.key, trial]),
  );
  return trials.map((trial) => regraded.get(trial.key) ?? trial);
}

/** What a preflight found of the run's tasks; null when none was made. */
export function validityOf(out: string): Validity[] | null {
  const path = join(out, 'validity.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Validity[]) : null;
}

export function saveValidity(out: string, found: Validity[]): void {
  writeWhole(join(out, 'validity.json'), `${JSON.stringify(found, undefined, 2)}\n`);
}
