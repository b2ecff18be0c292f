import type { Trial } from '../model.js';
import type { Validity } from '../preflight.js';
import { mean, passAtEveryK, wilson } from '../statistics.js';
import type { RunFile } from './run-file.js';

export interface Summary {
  suite: string;
  agent: string;
  model: string | null;
  created: string;
  tasks: number;
  attempts: number;
  /** Trials that there are and that there should be. */
  trials: { done: number; all: number };
  /** The mean reward over all trials; invalid ones count as 0. */
  score: number;
  /** Wilson's 95 % interval of the share of trials that passed. */
  interval: [number, number];
  passed: number;
  failed: number;
  invalid: number;
  causes: Record<string, number>;
  passAt: Record<string, number>;
  /** Aider's protocol: per cent of exercises solved by each try. */
  passRates?: Record<string, number>;
  dollars: number;
  tokens: number;
  seconds: { agent: number; verify: number };
  /** Of the tasks that a preflight has checked; null when none was. */
  validity: { checked: number; flagged: { task: string; why: string }[] } | null;
  /** The score over the tasks that preflight found valid; null when there is none. */
  validScore: number | null;
}

/** The run in numbers. Trials of the same run in any order give the same summary. */
export function summarize(run: RunFile, trials: Trial[], validity: Validity[] | null): Summary {
  const count = (outcome: string) =>
    trials.filter(({ verdict }) => verdict.outcome === outcome).length;
  const passed = count('pass');
  const all = run.tasks.length * run.attempts;
  const problems = run.tasks.map((task) => {
    const own = trials.filter((trial) => trial.task === task);
    return { n: own.length, c: own.filter(({ verdict }) => verdict.outcome === 'pass').length };
  });
  const flagged = (validity ?? []).filter(({ valid }) => !valid);
  const valid = new Set((validity ?? []).filter((found) => found.valid).map(({ task }) => task));
  const sum = (of: (trial: Trial) => number) =>
    Math.round(trials.reduce((total, trial) => total + of(trial), 0) * 1e6) / 1e6;
  return {
    suite: run.suite,
    agent: run.agent,
    model: run.model,
    created: run.created,
    tasks: run.tasks.length,
    attempts: run.attempts,
    trials: { done: trials.length, all },
    score: scoreOf(trials),
    interval: wilson(passed, trials.length),
    passed,
    failed: count('fail'),
    invalid: count('invalid'),
    causes: causesOf(trials),
    passAt: passAtEveryK(problems),
    ...passRates(trials),
    dollars: sum((trial) => trial.dollars),
    tokens: sum((trial) => trial.tokens),
    seconds: {
      agent: sum(({ seconds }) => seconds.agent),
      verify: sum(({ seconds }) => seconds.verify),
    },
    validity: validity && {
      checked: validity.length,
      flagged: flagged.map(({ task, why }) => ({ task, why: why ?? '' })),
    },
    validScore: valid.size > 0 ? scoreOf(trials.filter(({ task }) => valid.has(task))) : null,
  };
}

const scoreOf = (trials: Trial[]) => mean(trials.map(({ verdict }) => verdict.reward));

function causesOf(trials: Trial[]): Record<string, number> {
  const causes: Record<string, number> = {};
  for (const { verdict } of trials)
    if (verdict.cause) causes[verdict.cause] = (causes[verdict.cause] ?? 0) + 1;
  return Object.fromEntries(Object.entries(causes).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function passRates(trials: Trial[]): { passRates?: Record<string, number> } {
  const tried = trials.filter(({ tries }) => tries);
  if (tried.length === 0) return {};
  const by = (most: number) =>
    tried.filter(({ tries }) => tries?.slice(0, most).some(({ outcome }) => outcome === 'pass'))
      .length;
  const rate = (most: number) => Math.round((1000 * by(most)) / tried.length) / 10;
  return { passRates: { pass_rate_1: rate(1), pass_rate_2: rate(2) } };
}
