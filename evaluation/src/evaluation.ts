import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { BelayClient } from '@belay/client';
import { AppError } from '@belay/protocol';
import type { Agent } from './agents/agent.js';
import { command, nop, oracle } from './agents/baselines.js';
import { modelAgent } from './agents/model-agent.js';
import { predictionsFrom } from './agents/predictions.js';
import { Board } from './board/board.js';
import { compareTrials, type Comparison } from './compare.js';
import { Engine } from './engine/engine.js';
import { defaultFromMap, Images, type FromMap } from './engine/images.js';
import type { Task, Trial } from './model.js';
import { knownValidity, preflight, type Validity } from './preflight.js';
import { regradeTrials } from './regrade.js';
import { writeWhole } from './results/journal.js';
import { saveValidity, trialsOf, validityOf, writeReport } from './results/report.js';
import { loadRun, saveRun, type RunFile } from './results/run-file.js';
import type { Summary } from './results/summary.js';
import { runTrials, type Machinery, type RunRequest } from './run.js';
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
  /** For a slow machine: times the seconds of every limit. */
  timeoutMultiplier?: number;
  /** A folder with clones of repositories, for SWE-bench instances whose image is not here. */
  repos?: string;
  /** Check tasks that no preflight knows before the trials; no model is called for it. */
  preflight?: boolean;
}

/** What a run needs from its surroundings. */
export interface Surroundings {
  signal: AbortSignal;
  /** The platform's server: the agent `model` works there, and every run is on its board. Throws when there is none. */
  connect?(): { client: BelayClient; url: string };
  /** Where preflights keep what they found; without it none is asked or made. */
  cache?: string;
  onTrial?(trial: Trial, progress: { done: number; all: number }): void;
  /** A trial of the preflight. */
  onCheck?(trial: Trial, progress: { done: number; all: number }): void;
  /** Told before the trials what is known of so many tasks. */
  onValidity?(found: Validity[], tasks: number): void;
  /** Something that a person should know of. */
  onNotice?(sentence: string): void;
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
    timeoutMultiplier: request.timeoutMultiplier ?? 1,
    repos: request.repos ? resolve(request.repos) : null,
    preflight: request.preflight ?? false,
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
  return onBoard(out, around, async (board) => {
    const { cache } = around;
    if (cache !== undefined)
      await checkTasks(out, { ...around, cache }, { board, all: run.preflight });
    board?.begin();
    const { attempts, concurrency, network } = run;
    const request: RunRequest = {
      tasks,
      agent,
      attempts,
      concurrency,
      network,
      out: resolve(out),
      signal: around.signal,
      onTrial: (trial, progress) => {
        board?.judged(trial);
        around.onTrial?.(trial, progress);
      },
      onState: (of, state) => board?.at(of, state),
    };
    await runTrials(request, machinery);
    return reportRun(out, around);
  });
}

/** Verifies again what was handed in, with the data as it is now. No agent and no model is called. */
export async function regradeRun(out: string, around: Surroundings): Promise<Summary> {
  const { run, tasks, machinery } = opened(out);
  return onBoard(out, around, async (board) => {
    board?.begin();
    const regraded = await regradeTrials(
      { out: resolve(out), trials: trialsOf(out), tasks, network: run.network, ...around },
      machinery,
    );
    writeWhole(
      join(out, 'regraded.jsonl'),
      regraded.map((trial) => `${JSON.stringify(trial)}\n`).join(''),
    );
    return reportRun(out, around);
  });
}

/** Checks the run's tasks with the reference solution and with nothing; the report shows what it found. */
export async function preflightRun(
  out: string,
  around: Surroundings & { cache: string },
): Promise<Summary> {
  return onBoard(out, around, async (board) => {
    await checkTasks(out, around, { board, all: true });
    return reportRun(out, around);
  });
}

/** What is known of the run's tasks; with a preflight, which the run may ask for, all of it. */
async function checkTasks(
  out: string,
  around: Surroundings & { cache: string },
  { board, all }: { board: Board | undefined; all: boolean },
): Promise<void> {
  const { run, tasks, machinery } = opened(out);
  const { concurrency, network } = run;
  const { cache, signal } = around;
  const onCheck: Surroundings['onCheck'] = (trial, progress) => {
    board?.checked(progress);
    around.onCheck?.(trial, progress);
  };
  const folder = join(resolve(out), 'preflight');
  const request = { tasks, concurrency, network, out: folder, cache, signal, onCheck };
  const found = all
    ? await preflight(request, machinery)
    : await knownValidity(tasks, { cache, images: machinery.images });
  if (found.length > 0) saveValidity(out, found);
  around.onValidity?.(found, tasks.length);
}

/** Shows the run on the server's board while it is worked on, and how it ended. */
async function onBoard(
  out: string,
  { connect, onNotice, signal }: Surroundings,
  work: (board: Board | undefined) => Promise<Summary>,
): Promise<Summary> {
  const board = connect && (await Board.open({ out, connect, onNotice }));
  if (board) onNotice?.(`Live board: ${board.url}`);
  const end = async (...how: Parameters<Board['close']>) => {
    if (board && !(await board.close(...how)))
      onNotice?.('The server went away: its board does not show the end of this run.');
  };
  try {
    const summary = await work(board);
    const missing = summary.trials.all - summary.trials.done;
    await end(
      missing > 0 ? 'interrupted' : 'finished',
      missing > 0 ? `${missing} trials were not made yet.` : null,
    );
    return summary;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await end(signal.aborted ? 'interrupted' : 'failed', reason);
    throw error;
  }
}

/** Writes summary.json, report.html and the suite's own files from the results that there are. */
export function reportRun(out: string, { connect }: Pick<Surroundings, 'connect'> = {}): Summary {
  return writeReport(out, loadRun(out).agent === 'model' ? serverOf(connect) : null);
}

/** Where replays are; null when there is no server now. */
function serverOf(connect: Surroundings['connect']): string | null {
  try {
    return connect?.().url ?? null;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

export function compareRuns(a: string, b: string): Comparison {
  loadRun(a);
  loadRun(b);
  return compareTrials(
    { trials: trialsOf(a), validity: validityOf(a) },
    { trials: trialsOf(b), validity: validityOf(b) },
  );
}

const withLimits = (task: Task, times: number): Task => ({
  ...task,
  steps: task.steps.map((step) => {
    const { build, agent, verify } = step.limits;
    return {
      ...step,
      limits: { build: build * times, agent: agent * times, verify: verify * times },
    };
  }),
});

function opened(out: string): { run: RunFile; tasks: Task[]; machinery: Machinery } {
  const run = loadRun(out);
  const wanted = new Set(run.tasks);
  const tasks = suiteNamed(run.suite)
    .read(run.data)
    .filter(({ id }) => wanted.has(id))
    .map((task) => withLimits(task, run.timeoutMultiplier));
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
