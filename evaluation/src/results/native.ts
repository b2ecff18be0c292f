import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task, Trial } from '../model.js';
import { goodBy } from '../suites/swe-bench-logs.js';
import { folderName, trialFolder, writeWhole } from './journal.js';
import type { RunFile } from './run-file.js';
import { sweBenchReport } from './swe-bench-report.js';

/** Writes a suite's own result files below `native/`; other tools of the format read them. */
export function writeNative(out: string, { run, tasks, trials }: NativeInput): void {
  const write = writers[run.suite];
  write?.(out, { run, tasks, trials });
}

export interface NativeInput {
  run: RunFile;
  /** All tasks of the data, not only those that were chosen. */
  tasks: Task[];
  trials: Trial[];
}

type Writer = (out: string, input: NativeInput) => void;

const json = (value: unknown, indent = 4) => `${JSON.stringify(value, undefined, indent)}`;
const lines = (values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

/** The answer file of a trial, as text. */
function answerOf(out: string, trial: Trial): string {
  const path = join(trialFolder(out, trial), 'solve', 'submission.json');
  if (!existsSync(path)) return '';
  const { entries } = JSON.parse(readFileSync(path, 'utf8')) as { entries: { bytes: string }[] };
  return Buffer.from(entries[0]?.bytes ?? '', 'base64').toString();
}

const humanEval: Writer = (out, { tasks, trials }) => {
  const prompts = new Map(tasks.map(({ id, steps }) => [id, steps[0]?.files[0]?.bytes.toString()]));
  const samples = trials.map((trial) => {
    const answer = answerOf(out, trial);
    const prompt = prompts.get(trial.task) ?? '';
    const isCompletion = prompt !== '' && answer.startsWith(prompt);
    return {
      sample: {
        task_id: trial.task,
        ...(isCompletion ? { completion: answer.slice(prompt.length) } : { solution: answer }),
      },
      trial,
    };
  });
  writeWhole(join(out, 'native', 'samples.jsonl'), lines(samples.map(({ sample }) => sample)));
  const results = samples.map(({ sample, trial: { verdict } }) => ({
    ...sample,
    result: resultOf(verdict),
    passed: verdict.outcome === 'pass',
  }));
  writeWhole(join(out, 'native', 'samples.jsonl_results.jsonl'), lines(results));
};

function resultOf({ outcome, cause, detail }: Trial['verdict']): string {
  if (outcome === 'pass') return 'passed';
  return cause === 'verifier_timeout' ? 'timed out' : `failed: ${detail}`;
}

const sweBench: Writer = (out, { run, tasks, trials }) => {
  const model = run.model ?? run.agent;
  const safe = model.replaceAll('/', '__');
  const patchOf = (trial: Trial) => {
    const path = join(trialFolder(out, trial), 'solve', 'patch.diff');
    return existsSync(path) ? readFileSync(path, 'utf8') : null;
  };
  const predictions = trials.map((trial) => ({
    instance_id: trial.task,
    model_name_or_path: model,
    model_patch: patchOf(trial) ?? '',
  }));
  writeWhole(join(out, 'native', 'predictions.jsonl'), lines(predictions));
  for (const trial of trials) {
    const task = tasks.find(({ id }) => id === trial.task);
    const folder = join(out, 'native', 'logs', 'run_evaluation', 'belay', safe, trial.task);
    writeWhole(join(folder, 'patch.diff'), patchOf(trial) ?? '');
    if (task) writeWhole(join(folder, 'report.json'), json(instanceReport(trial, task)));
    const log = join(trialFolder(out, trial), 'solve', 'test-output.txt');
    if (existsSync(log)) writeWhole(join(folder, 'test_output.txt'), readFileSync(log));
  }
  const all = tasks.map(({ id }) => id);
  writeWhole(join(out, 'native', `${safe}.belay.json`), sweBenchReport(all, trials));
};

function instanceReport({ task: id, verdict }: Trial, task: Task) {
  const lists = task.tests ?? { FAIL_TO_PASS: [], PASS_TO_PASS: [], type: 'pass_and_fail' };
  const isGood = goodBy(lists.type, verdict.tests ?? {});
  const split = (list: 'FAIL_TO_PASS' | 'PASS_TO_PASS') => ({
    success: lists[list].filter((test) => verdict.tests && isGood(test, list)),
    failure: lists[list].filter((test) => !verdict.tests || !isGood(test, list)),
  });
  const none = { success: [], failure: [] };
  return {
    [id]: {
      patch_is_None: false,
      patch_exists: verdict.cause !== 'empty_patch',
      patch_successfully_applied: !['empty_patch', 'patch_refused'].includes(verdict.cause ?? ''),
      resolved: verdict.outcome === 'pass',
      infra_failure: verdict.outcome === 'invalid',
      tests_status: {
        FAIL_TO_PASS: split('FAIL_TO_PASS'),
        PASS_TO_PASS: split('PASS_TO_PASS'),
        FAIL_TO_FAIL: none,
        PASS_TO_FAIL: none,
      },
    },
  };
}

const harbor: Writer = (out, { run, trials }) => {
  const job = join(out, 'native', 'jobs', folderName(run.created));
  writeWhole(join(job, 'config.json'), json(run));
  const rewards = trials.map(({ verdict }) => verdict.reward);
  const sum = rewards.reduce((total, reward) => total + reward, 0);
  const metrics = { mean: trials.length > 0 ? sum / trials.length : 0 };
  writeWhole(join(job, 'result.json'), json({ n_trials: trials.length, metrics }));
  for (const trial of trials) {
    const folder = join(job, `${folderName(trial.task)}__${trial.attempt}`);
    writeWhole(join(folder, 'config.json'), json({ task: trial.task, agent: trial.agent }));
    writeWhole(join(folder, 'result.json'), json(trial));
    writeWhole(join(folder, 'trial.log'), `${trial.verdict.detail}\n`);
    writeWhole(join(folder, 'artifacts', 'manifest.json'), json([]));
    const trajectory = join(trialFolder(out, trial), 'trajectory.json');
    if (existsSync(trajectory))
      writeWhole(join(folder, 'agent', 'trajectory.json'), readFileSync(trajectory));
    writeWhole(join(folder, 'verifier', 'reward.txt'), `${trial.verdict.reward}\n`);
    const log = join(trialFolder(out, trial), 'solve', 'test-output.txt');
    if (existsSync(log)) writeWhole(join(folder, 'verifier', 'test-stdout.txt'), readFileSync(log));
  }
};

/** One file for each exercise, as Aider's benchmark leaves them. */
const aider: Writer = (out, { run, trials }) => {
  for (const trial of trials)
    writeWhole(
      join(out, 'native', ...trial.task.split('/'), '.aider.results.json'),
      json({
        testdir: trial.task,
        testcase: trial.task.split('/').at(-1),
        model: run.model ?? run.agent,
        edit_format: 'belay',
        tests_outcomes: (trial.tries ?? [trial.verdict]).map(({ outcome }) => outcome === 'pass'),
        cost: trial.dollars,
        duration: trial.seconds.agent,
      }),
    );
};

const writers: Record<string, Writer> = {
  'human-eval': humanEval,
  mbpp: humanEval,
  'swe-bench': sweBench,
  harbor,
  polyglot: aider,
};
