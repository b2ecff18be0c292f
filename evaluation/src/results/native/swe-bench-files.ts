import { join } from 'node:path';
import type { Task, Trial } from '../../model.js';
import { goodBy } from '../../suites/swe-bench/logs.js';
import { writeInside } from '../journal.js';
import { pythonJson, pythonLines } from './python-json.js';
import { kept, type NativeInput, type Writer } from './writer.js';
import { hasReport, sweBenchReport } from './swe-bench-report.js';

/**
 * Predictions, the run report and a folder for each evaluated instance. Further attempts have their
 * number in these names.
 */
export const sweBenchFiles: Writer = (out, input) => {
  const attempts = new Set(input.trials.map(({ attempt }) => attempt));
  for (const attempt of attempts) {
    const trials = input.trials
      .filter((trial) => trial.attempt === attempt)
      .map((trial) => (patchOf(out, trial) ? trial : asEmpty(trial)));
    writeAttempt(out, { ...input, trials }, attempt > 1 ? `.${attempt}` : '');
  }
};

const patchOf = (out: string, trial: Trial): string =>
  kept(out, trial, 'solve', 'patch.diff')?.toString() ?? '';

/** A baseline's empty patch is verified here, but SWE-bench's harness runs nothing for one. */
const asEmpty = (trial: Trial): Trial => ({
  ...trial,
  verdict: { ...trial.verdict, outcome: 'fail', cause: 'empty_patch' },
});

function writeAttempt(out: string, { run, tasks, trials }: NativeInput, number: string): void {
  const native = join(out, 'native');
  const model = run.model ?? run.agent;
  const safe = model.replaceAll('/', '__');
  const predictions = trials.map((trial) => ({
    instance_id: trial.task,
    model_name_or_path: model,
    model_patch: patchOf(out, trial),
  }));
  writeInside(out, join(native, `predictions${number}.jsonl`), pythonLines(predictions));
  for (const trial of trials) {
    // The harness runs nothing for an empty patch, so it writes no files for it.
    if (trial.verdict.cause === 'empty_patch') continue;
    const task = tasks.find(({ id }) => id === trial.task);
    const folder = join(native, 'logs', 'run_evaluation', `belay${number}`, safe, trial.task);
    const script = task?.steps[0]?.verifier.files.find(({ path }) => path === '/verify/eval.sh');
    const log = kept(out, trial, 'solve', 'test-output.txt');
    writeInside(out, join(folder, 'patch.diff'), patchOf(out, trial));
    writeInside(out, join(folder, 'run_instance.log'), `${trial.verdict.detail}\n`);
    if (script) writeInside(out, join(folder, 'eval.sh'), script.bytes);
    if (log) writeInside(out, join(folder, 'test_output.txt'), log);
    if (task && hasReport(trial))
      writeInside(
        out,
        join(folder, 'report.json'),
        pythonJson(instanceReport(trial, task), { indent: 4 }),
      );
  }
  const all = tasks.map(({ id }) => id);
  const logs = new Map(
    trials.map((trial) => [trial.task, kept(out, trial, 'solve', 'test-output.txt')?.toString()]),
  );
  writeInside(
    out,
    join(native, `${safe}.belay${number}.json`),
    sweBenchReport(all, trials, (id) => logs.get(id) ?? ''),
  );
}

/** `tests_status` is present only if the log had results. */
function instanceReport({ task: id, verdict }: Trial, { tests: lists }: Task) {
  const { tests } = verdict;
  const isGood = goodBy(lists?.type ?? 'pass_and_fail', tests ?? {});
  const split = (list: 'FAIL_TO_PASS' | 'PASS_TO_PASS') => ({
    success: (lists?.[list] ?? []).filter((test) => isGood(test, list)),
    failure: (lists?.[list] ?? []).filter((test) => !isGood(test, list)),
  });
  const none = { success: [], failure: [] };
  return {
    [id]: {
      patch_is_None: false,
      patch_exists: true,
      patch_successfully_applied: tests !== undefined,
      resolved: verdict.outcome === 'pass',
      infra_failure: false,
      ...(tests && {
        tests_status: {
          FAIL_TO_PASS: split('FAIL_TO_PASS'),
          PASS_TO_PASS: split('PASS_TO_PASS'),
          FAIL_TO_FAIL: none,
          PASS_TO_FAIL: none,
        },
      }),
    },
  };
}
