import type { Trial } from '../model.js';
import type { Validity } from '../validity.js';
import { passAtEveryK, wilson } from '../statistics.js';
import { groupsOf, type Group } from './groups.js';
import type { Provenance } from './provenance.js';
import type { RunFile } from './run-file.js';

export interface Summary {
  suite: string;
  agent: string;
  model: string | null;
  created: string;
  tasks: number;
  attempts: number;
  /** The finished trials, and all trials of the run. */
  trials: { done: number; all: number };
  /** The number of chosen tasks without a prediction. */
  notAttempted: number;
  /** Their names. */
  missing: string[];
  /** The mean reward over all trials of all chosen tasks; invalid and missing trials count as 0. */
  score: number;
  /** Wilson's 95% interval for the score, over tasks: attempts at one task are not independent. */
  interval: [number, number];
  passed: number;
  failed: number;
  invalid: number;
  causes: Record<string, number>;
  /** Trials whose lines in results.jsonl have changed since they were recorded. */
  edited: { task: string; attempt: number }[];
  /** Passes that later checks flagged, such as a second run of their tests. */
  doubtful: { task: string; attempt: number; why: string }[];
  /** Where the trials’ containers were, which decided their verdicts. */
  places: { name: string; passed: number; trials: { task: string; attempt: number }[] }[];
  groups: Group[];
  passAt: Record<string, number>;
  /** Aider's protocol: the percentage of exercises solved within one try and within two. */
  passRates?: Record<string, number>;
  dollars: number;
  tokens: number;
  seconds: { agent: number; verify: number };
  /** Preflight results of the run's tasks; null if there was no preflight. */
  validity: { checked: number; flagged: { task: string; why: string }[] } | null;
  /** The score over the tasks that the preflight found valid; null if there are none. */
  validScore: number | null;
  provenance:
    | (Provenance & {
        /** A hash over the content of the chosen tasks. */
        data: string | null;
        network: RunFile['network'];
        buildNetwork: RunFile['buildNetwork'];
        /** Names of images, with the engine's ids. */
        images: Record<string, string>;
      })
    | null;
}

/** Summarizes a run. The order of its trials does not matter. */
export function summarizeRun(
  run: RunFile,
  trials: Trial[],
  { validity, edited = [] }: { validity: Validity[] | null; edited?: Trial[] },
): Summary {
  const count = (outcome: string) =>
    trials.filter(({ verdict }) => verdict.outcome === outcome).length;
  const passed = count('pass');
  const all = run.tasks.length * run.attempts;
  const chosen = all + run.unattempted.length * run.attempts;
  const attempted = run.tasks.map((task) => {
    const own = trials.filter((trial) => trial.task === task);
    return { n: own.length, c: own.filter(({ verdict }) => verdict.outcome === 'pass').length };
  });
  const missed = run.unattempted.map(() => ({ n: run.attempts, c: 0 }));
  const problems = [...attempted, ...missed];
  const flagged = (validity ?? []).filter(({ valid }) => !valid);
  const valid = new Set((validity ?? []).filter((found) => found.valid).map(({ task }) => task));
  const tasks = run.tasks.length + run.unattempted.length;
  const score = scoreOf(trials, chosen);
  const sum = (of: (trial: Trial) => number) =>
    Math.round(trials.reduce((total, trial) => total + of(trial), 0) * 1e6) / 1e6;
  return {
    suite: run.suite,
    agent: run.agent,
    model: run.model,
    created: run.created,
    tasks,
    attempts: run.attempts,
    trials: { done: trials.length, all },
    notAttempted: run.unattempted.length,
    missing: run.unattempted,
    score,
    // A mean of attempts varies at most as much as one attempt, so this is never too narrow.
    interval: wilson(score * tasks, tasks),
    passed,
    failed: count('fail'),
    invalid: count('invalid'),
    causes: causesOf(trials),
    edited: edited.map(({ task, attempt }) => ({ task, attempt })),
    doubtful: trials.flatMap(({ task, attempt, verdict }) =>
      verdict.outcome === 'pass'
        ? (verdict.flags ?? []).map((why) => ({ task, attempt, why }))
        : [],
    ),
    places: placesOf(trials),
    groups: groupsOf(run, trials),
    passAt: passAtEveryK(problems),
    ...passRates(trials, chosen),
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
    validScore:
      valid.size > 0
        ? scoreOf(
            trials.filter(({ task }) => valid.has(task)),
            (valid.size + run.unattempted.length) * run.attempts,
          )
        : null,
    provenance: run.provenance && {
      ...run.provenance,
      data: run.content,
      network: run.network,
      buildNetwork: run.buildNetwork,
      images: imagesOf(trials),
    },
  };
}

/** By name; those of older versions of Belay are in none. */
function placesOf(trials: Trial[]): Summary['places'] {
  const names = new Set(trials.flatMap(({ place }) => place ?? []));
  return [...names].toSorted().map((name) => {
    const own = trials.filter(({ place }) => place === name);
    return {
      name,
      passed: own.filter(({ verdict }) => verdict.outcome === 'pass').length,
      trials: own.map(({ task, attempt }) => ({ task, attempt })),
    };
  });
}

const imagesOf = (trials: Trial[]): Record<string, string> =>
  Object.fromEntries(
    trials
      .flatMap(({ image }) => (image ? [[image.name, image.id] as const] : []))
      .toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))),
  );

const scoreOf = (trials: Trial[], chosen: number) =>
  trials.reduce((sum, { verdict }) => sum + verdict.reward, 0) / Math.max(1, chosen);

function causesOf(trials: Trial[]): Record<string, number> {
  const causes: Record<string, number> = {};
  for (const { verdict } of trials)
    if (verdict.cause) causes[verdict.cause] = (causes[verdict.cause] ?? 0) + 1;
  return Object.fromEntries(Object.entries(causes).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function passRates(trials: Trial[], chosen: number): { passRates?: Record<string, number> } {
  const tried = trials.filter(({ tries }) => tries);
  if (tried.length === 0) return {};
  const by = (most: number) =>
    tried.filter(({ tries }) => tries?.slice(0, most).some(({ outcome }) => outcome === 'pass'))
      .length;
  const rate = (most: number) => Math.round((1000 * by(most)) / chosen) / 10;
  return { passRates: { pass_rate_1: rate(1), pass_rate_2: rate(2) } };
}
