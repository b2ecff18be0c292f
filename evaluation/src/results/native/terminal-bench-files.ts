import { join } from 'node:path';
import type { Cause, Task, Trial, Verdict } from '../../model.js';
import { mean, passAtK } from '../../statistics.js';
import { folderName } from '../../folder-name.js';
import { writeInside } from '../journal.js';
import { agentName, liteLlmName } from './harbor-trial.js';
import { float, pythonJson } from './python-json.js';
import { timesOf, tokensOf, uuidOf, type Writer } from './writer.js';

/** Terminal-Bench's run folder: results.json of the run, and one for each trial at TASK/TRIAL. */
export const terminalBenchFiles: Writer = (out, { run, tasks, trials }) => {
  const id = folderName(run.created);
  const folder = join(out, 'native', 'runs', id);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const results = trials.map((trial) =>
    resultOf(trial, { task: byId.get(trial.task), out, run: id, attempts: run.attempts }),
  );
  const write = (path: string, value: object) =>
    writeInside(out, join(folder, path), pythonJson(value, { indent: 4, unicode: true }));
  for (const result of results)
    write(join(result.task_id, result.trial_name, 'results.json'), result);
  const ids = (resolved: boolean) =>
    trials
      .filter(({ verdict }) => (verdict.outcome === 'pass') === resolved)
      .map(({ task }) => task);
  const [resolved, unresolved] = [ids(true), ids(false)];
  const scores = {
    accuracy: float(trials.length > 0 ? resolved.length / trials.length : 0),
    pass_at_k: passAtEligibleK(trials),
  };
  write('results.json', {
    id: uuidOf(`${run.created}${run.agent}`),
    results,
    pass_at_k: scores.pass_at_k,
    n_resolved: resolved.length,
    n_unresolved: unresolved.length,
    resolved_ids: resolved,
    unresolved_ids: unresolved,
    accuracy: scores.accuracy,
  });
  const ends = trials.map((trial) => timesOf(trial).ended.getTime());
  const ended = Math.max(Date.parse(run.created), ...ends);
  // RunMetadata. Fields without a value in this harness are null.
  write('run_metadata.json', {
    run_id: id,
    dataset_path: run.data,
    dataset_name: null,
    dataset_version: null,
    output_path: join(out, 'native', 'runs'),
    agent_name: agentName(run.agent),
    no_rebuild: false,
    cleanup: true,
    log_level: 20,
    task_ids: run.tasks,
    exclude_task_ids: null,
    n_tasks: null,
    n_concurrent_trials: run.concurrency,
    n_attempts: run.attempts,
    dataset_size: run.tasks.length + run.unattempted.length,
    accuracy: scores.accuracy,
    model_name: run.model === null ? null : liteLlmName(run.model),
    agent_kwargs: {},
    commit_hash: 'unknown',
    username: 'unknown',
    start_time: timeText(new Date(run.created)),
    end_time: timeText(new Date(ended)),
    s3_bucket: null,
    pass_at_k: scores.pass_at_k,
  });
};

const timeText = (time: Date) => time.toISOString().replace(/(\.\d+)Z$/, '$1000+00:00');

const failureModes: Partial<Record<Cause, string>> = {
  agent_timeout: 'agent_timeout',
  verifier_timeout: 'test_timeout',
  no_result: 'parse_error',
  agent_failed: 'unknown_agent_error',
  unsupported: 'unknown_agent_error',
  build_failed: 'unknown_agent_error',
  infrastructure: 'unknown_agent_error',
};

interface Around {
  task: Task | undefined;
  out: string;
  run: string;
  attempts: number;
}

function resultOf(trial: Trial, { task, out, run, attempts }: Around) {
  const { verdict } = trial;
  const tokens = tokensOf(out, trial);
  const times = timesOf(trial);
  return {
    id: uuidOf(trial.key),
    trial_name: `${trial.task}.${trial.attempt}-of-${attempts}.${run}`,
    task_id: trial.task,
    instruction: task?.steps[0]?.instruction ?? '',
    // Unknown without test results.
    is_resolved: verdict.tests ? verdict.outcome === 'pass' : null,
    failure_mode: (verdict.cause && failureModes[verdict.cause]) ?? 'unset',
    parser_results: parserResults(verdict),
    recording_path: null,
    total_input_tokens: tokens.prompt,
    total_output_tokens: tokens.completion,
    trial_started_at: timeText(times.begun),
    trial_ended_at: timeText(times.ended),
    agent_started_at: timeText(times.built),
    agent_ended_at: timeText(times.worked),
    test_started_at: timeText(times.worked),
    test_ended_at: timeText(times.ended),
  };
}

/** Names without their file; tests that were skipped or failed as expected count as passed. */
function parserResults({ tests }: Verdict): Record<string, string> | null {
  if (!tests) return null;
  const isGood = (result: string) => ['PASSED', 'SKIPPED', 'XFAIL'].includes(result);
  return Object.fromEntries(
    Object.entries(tests).map(([name, result]) => [
      name.slice(name.indexOf('::') + 1).replace(/^:/, ''),
      isGood(result) ? 'passed' : 'failed',
    ]),
  );
}

/** Pass@k for powers of two from 2 on, then 5 and 10, if every task has that many attempts. */
function passAtEligibleK(trials: Trial[]): Map<string, unknown> {
  const counts = new Map<string, { n: number; c: number }>();
  for (const { task, verdict } of trials) {
    const { n, c } = counts.get(task) ?? { n: 0, c: 0 };
    counts.set(task, { n: n + 1, c: c + (verdict.outcome === 'pass' ? 1 : 0) });
  }
  const problems = [...counts.values()];
  const most = Math.min(...problems.map(({ n }) => n));
  const ks = [2, 4, 8, 16, 32, 64, 5, 10].filter((k) => problems.length > 0 && k <= most);
  const score = (k: number) => mean(problems.map(({ n, c }) => passAtK(n, c, k)));
  return new Map(ks.map((k) => [String(k), float(score(k))]));
}
