import { mean, passAtK } from '../../statistics.js';
import type { RunFile } from '../run-file.js';
import { agentName, liteLlmName, timeText, type HarborTrial } from './harbor-trial.js';
import { Float, float } from './python-json.js';
import { exceptionOf, isRewardValid, verifierResult } from './trial-result.js';
import { timesOf, tokensOf } from './writer.js';

/** Harbor's JobResult, without the trials, which have separate files. */
export function jobResult(run: RunFile, id: string, all: HarborTrial[]) {
  const ended = new Date(
    Math.max(Date.parse(run.created), ...all.map(({ trial }) => timesOf(trial).ended.getTime())),
  );
  const total = run.tasks.length * run.attempts;
  const failed = all.filter(({ trial }) => exceptionOf(trial.verdict, ended));
  const sum = (of: (each: HarborTrial) => number | null) => {
    const known = all.map(of).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((whole, value) => whole + value, 0);
  };
  const cost = sum(({ trial, out }) =>
    tokensOf(out, trial).prompt === null ? null : trial.dollars,
  );
  return {
    schema_version: 1,
    id,
    started_at: timeText(new Date(run.created)),
    updated_at: timeText(ended),
    finished_at: all.length < total ? null : timeText(ended),
    n_total_trials: total,
    stats: {
      n_completed_trials: all.length,
      n_errored_trials: failed.length,
      n_running_trials: 0,
      n_pending_trials: total - all.length,
      n_cancelled_trials: 0,
      n_retries: 0,
      evals: all.length === 0 ? {} : { [keyOf(run, all)]: statsOf(all, ended) },
      n_input_tokens: sum(({ trial, out }) => tokensOf(out, trial).prompt),
      n_cache_tokens: sum(({ trial, out }) => tokensOf(out, trial).cached),
      n_output_tokens: sum(({ trial, out }) => tokensOf(out, trial).completion),
      cost_usd: cost === null ? null : float(cost),
    },
  };
}

const keyOf = ({ agent, model }: RunFile, [first]: HarborTrial[]): string =>
  [
    agentName(agent),
    model && liteLlmName(model).split('/').slice(1).join('/'),
    first?.source ?? 'adhoc',
  ]
    .filter(Boolean)
    .join('__');

type Rewards = Record<string, Float> | null;

function statsOf(all: HarborTrial[], ended: Date) {
  const rewards = all.map(({ trial }): Rewards =>
    isRewardValid(trial.verdict) ? (verifierResult(trial.verdict)?.rewards ?? null) : null,
  );
  const byReward: Record<string, Map<string, string[]>> = {};
  const byException: Record<string, string[]> = {};
  for (const [index, { trial, name }] of all.entries()) {
    for (const [key, { value }] of Object.entries(rewards[index] ?? {})) {
      const names = (byReward[key] ??= new Map<string, string[]>());
      const shown = Number.isInteger(value) ? `${value}.0` : String(value);
      names.set(shown, [...(names.get(shown) ?? []), name]);
    }
    const exception = exceptionOf(trial.verdict, ended);
    if (exception) (byException[exception.exception_type] ??= []).push(name);
  }
  return {
    n_trials: rewards.filter(Boolean).length,
    n_errors: Object.values(byException).flat().length,
    metrics: meansOf(rewards.filter((each) => each !== null)),
    pass_at_k: passAt(all, rewards),
    reward_stats: byReward,
    exception_stats: byException,
  };
}

/**
 * The mean of a single key is called `mean`; several keys keep their names. Trials without valid
 * rewards are left out.
 */
function meansOf(rewards: NonNullable<Rewards>[]) {
  const keys = [...new Set(rewards.flatMap((each) => Object.keys(each)))].toSorted();
  const of = (key: string) => float(mean(rewards.map((each) => each[key]?.value ?? 0)));
  const means = keys.map((key): [string, Float] => [keys.length === 1 ? 'mean' : key, of(key)]);
  return means.length === 0 ? [] : [Object.fromEntries(means)];
}

/**
 * Pass@k as Harbor reports it: only if every trial with valid rewards has one reward, which is 0 or
 * 1, and for a k that is a multiple of five or a power of two, from 2 on.
 */
function passAt(all: HarborTrial[], rewards: Rewards[]): Record<string, Float> {
  const problems = new Map<string, { n: number; c: number }>();
  for (const [index, { trial }] of all.entries()) {
    const valid = rewards[index];
    if (!valid) continue;
    const values = Object.values(valid);
    const value = values[0]?.value;
    if (values.length !== 1 || (value !== 0 && value !== 1)) return {};
    const { n, c } = problems.get(trial.task) ?? { n: 0, c: 0 };
    problems.set(trial.task, { n: n + 1, c: c + value });
  }
  const counts = [...problems.values()];
  const most = counts.length === 0 ? 0 : Math.min(...counts.map(({ n }) => n));
  const isEligible = (k: number) => k > 1 && (k % 5 === 0 || Number.isInteger(Math.log2(k)));
  const ks = Array.from({ length: most }, (_, index) => index + 1).filter(isEligible);
  return Object.fromEntries(
    ks.map((k) => [String(k), float(mean(counts.map(({ n, c }) => passAtK(n, c, k))))]),
  );
}
