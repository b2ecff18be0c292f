import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { BelayClient } from '@belay/client';
import { AppError } from '@belay/protocol';
import type { Agent } from './agents/agent.js';
import { command, nop, oracle } from './agents/baselines.js';
import { modelAgent } from './agents/model-agent.js';
import { predictionsFrom } from './agents/predictions.js';
import { compareTrials, type Comparison } from './compare.js';
import { Engine } from './engine/engine.js';
import { defaultFromMap, Images, type FromMap } from './engine/images.js';
import type { Task, Trial } from './model.js';
import { preflight, type Validity } from './preflight.js';
import { regradeTrials } from './regrade.js';
import { readTrials, writeWhole } from './results/journal.js';
import { writeNative } from './results/native.js';
import { page } from './results/page.js';
import { loadRun, saveRun, type RunFile } from './results/run-file.js';
import { summarize, type Summary } from './results/summary.js';
import { runTrials, type Machinery } from './run.js';
import { sample } from './statistics.js';
import { suiteNamed } from './suites/index.js';

export interface NewRun {
  suite: string;
  data: string;
  /** `oracle`, `nop`, `model`, `command:LINE` or `predictions:FILE`. */
  agent: string;
  model?: string;
  /** Ids of tasks; all when there are none. */
  tasks?: string[];
  sample?: number;
  seed?: number;
  attempts?: number;
  concurrency?: number;
  out: string;
  network?: 'none' | 'declared';
  fromMap?: FromMap;
  sandbox?: string;
  /** A folder with clones of repositories, for SWE-bench instances whose image is not here. */
  repos?: string;
}

/** What a run needs from its surroundings. */
export interface Surroundings {
  signal: AbortSignal;
  /** The platform's server, for the agent `model`. */
  connect?(): { client: BelayClient; url: string };
  onTrial?(trial: Trial, progress: { done: number; all: number }): void;
  onTask?(validity: Validity, progress: { done: number; all: number }): void;
}

/** Starts a run in an empty results folder, or goes on with the same run in its own. */
export async function startRun(request: NewRun, around: Surroundings): Promise<Summary> {
  const data = resolve(request.data);
  const tasks = chosen(suiteNamed(request.suite).read(data), request);
  const run: RunFile = {
    version: 1,
    suite: request.suite,
    data,
    agent: request.agent,
    model: request.model ?? null,
    tasks: tasks.map(({ id }) => id),
    attempts: request.attempts ?? 1,
    concurrency: request.concurrency ?? 2,
    network: request.network ?? 'none',
    fromMap: [...(request.fromMap ?? []), ...defaultFromMap],
    sandbox: request.sandbox ?? null,
    repos: request.repos ? resolve(request.repos) : null,
    created: new Date().toISOString(),
  };
  const out = resolve(request.out);
  if (existsSync(join(out, 'run.json')))
    throw new AppError('conflict', `${request.out} holds a run: resume it, or name another --out.`);
  saveRun(out, withPredicted(run));
  return resumeRun(out, around);
}

/** Runs what is missing. After a kill at any moment the report is that of a run that was not interrupted. */
export async function resumeRun(out: string, around: Surroundings): Promise<Summary> {
  const { run, tasks, machinery } = opened(out);
  const agent = agentOf(run, around);
  const { attempts, concurrency, network } = run;
  const { signal, onTrial } = around;
  const request = {
    tasks,
    agent,
    attempts,
    concurrency,
    network,
    out: resolve(out),
    signal,
    onTrial,
  };
  await runTrials(request, machinery);
  return reportRun(out, around);
}

/** Verifies again what was handed in, with the data as it is now. No agent and no model is called. */
export async function regradeRun(out: string, around: Surroundings): Promise<Summary> {
  const { run, tasks, machinery } = opened(out);
  const trials = trialsOf(out);
  const regraded = await regradeTrials(
    { out: resolve(out), trials, tasks, network: run.network, ...around },
    machinery,
  );
  writeWhole(
    join(out, 'regraded.jsonl'),
    regraded.map((trial) => `${JSON.stringify(trial)}\n`).join(''),
  );
  return reportRun(out, around);
}

/** Checks the run's tasks with the reference solution and with nothing; the report shows what it found. */
export async function preflightRun(
  out: string,
  around: Surroundings & { cache: string },
): Promise<Validity[]> {
  const { run, tasks, machinery } = opened(out);
  const { concurrency, network } = run;
  const folder = join(resolve(out), 'preflight');
  const validity = await preflight(
    { tasks, concurrency, network, out: folder, ...around },
    machinery,
  );
  writeWhole(join(out, 'validity.json'), `${JSON.stringify(validity, undefined, 2)}\n`);
  return validity;
}

/** Writes summary.json, report.html and the suite's own files from the results that there are. */
export function reportRun(out: string, { connect }: Pick<Surroundings, 'connect'> = {}): Summary {
  const run = loadRun(out);
  const trials = trialsOf(out).toSorted(
    (a, b) => run.tasks.indexOf(a.task) - run.tasks.indexOf(b.task) || a.attempt - b.attempt,
  );
  const summary = summarize(run, trials, validityOf(out));
  writeWhole(join(out, 'summary.json'), `${JSON.stringify(summary, undefined, 2)}\n`);
  const url = run.agent === 'model' ? (connect?.().url ?? null) : null;
  writeWhole(join(out, 'report.html'), page(summary, trials, url));
  if (existsSync(run.data)) {
    const tasks = suiteNamed(run.suite).read(run.data);
    writeNative(out, { run: { ...run, model: modelOf(trials) ?? run.model }, tasks, trials });
  }
  return summary;
}

export function compareRuns(a: string, b: string): Comparison {
  loadRun(a);
  loadRun(b);
  return compareTrials(trialsOf(a), trialsOf(b));
}

/** The trials that count: of one task and attempt the last, and a regrade takes the place of its verdict. */
function trialsOf(out: string): Trial[] {
  const lines = readTrials(join(out, 'results.jsonl')).trials;
  const last = new Map(lines.map((trial) => [JSON.stringify([trial.task, trial.attempt]), trial]));
  const trials = [...last.values()];
  const regraded = new Map(
    readTrials(join(out, 'regraded.jsonl')).trials.map((trial) => [trial.key, trial]),
  );
  return trials.map((trial) => regraded.get(trial.key) ?? trial);
}

function validityOf(out: string): Validity[] | null {
  const path = join(out, 'validity.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Validity[]) : null;
}

const modelOf = (trials: Trial[]) => trials.find(({ model }) => model)?.model ?? null;

function opened(out: string): { run: RunFile; tasks: Task[]; machinery: Machinery } {
  const run = loadRun(out);
  const wanted = new Set(run.tasks);
  const tasks = suiteNamed(run.suite)
    .read(run.data)
    .filter(({ id }) => wanted.has(id));
  const engine = new Engine();
  const { sandbox, fromMap, repos } = run;
  const images = new Images({ engine, sandbox, fromMap, repos });
  return { run, tasks, machinery: { engine, images } };
}

function chosen(tasks: Task[], { tasks: ids, sample: count, seed = 1 }: NewRun): Task[] {
  const missing = (ids ?? []).filter((id) => !tasks.some((task) => task.id === id));
  if (missing.length > 0)
    throw new AppError('invalid_input', `There is no task ${missing.join(', ')} in the data.`);
  const named = ids?.length ? tasks.filter(({ id }) => ids.includes(id)) : tasks;
  return count === undefined ? named : sample(named, count, seed);
}

/** A file of predictions says which tasks there are, and how often. */
function withPredicted(run: RunFile): RunFile {
  const [, path] = /^predictions:(.*)$/s.exec(run.agent) ?? [];
  if (!path) return run;
  const { counts } = predictionsFrom(path);
  const tasks = run.tasks.filter((id) => counts.has(id));
  if (tasks.length === 0)
    throw new AppError('invalid_input', `${path} has no prediction for a task of the data.`);
  const left = run.tasks.length - tasks.length;
  if (left > 0 && run.suite === 'human-eval')
    throw new AppError(
      'invalid_input',
      `${left} problems have no sample: that is no score. Name those that do with --tasks.`,
    );
  const attempts = Math.min(...tasks.map((id) => counts.get(id) ?? 0));
  return { ...run, agent: `predictions:${resolve(path)}`, tasks, attempts };
}

function agentOf(run: RunFile, { connect }: Surroundings): Agent {
  const [, kind, rest = ''] = /^([a-z]+)(?::(.*))?$/s.exec(run.agent) ?? [];
  if (kind === 'oracle') return oracle;
  if (kind === 'nop') return nop;
  if (kind === 'command' && rest) return command(rest);
  if (kind === 'predictions' && rest) return predictionsFrom(rest).agent;
  if (kind !== 'model')
    throw new AppError(
      'invalid_input',
      `There is no agent ${run.agent}: oracle, nop, model, command:LINE or predictions:FILE.`,
    );
  if (!run.model) throw new AppError('invalid_input', 'Name a model with --model provider:model.');
  if (!connect) throw new AppError('unavailable', 'The agent `model` needs a Belay server.');
  return modelAgent({ client: connect().client, model: run.model });
}
