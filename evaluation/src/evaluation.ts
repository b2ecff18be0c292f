import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DockerTasks } from '@belay/containers';
import { AppError } from '@belay/protocol';
import type { Agent } from './agents/agent.js';
import {
  agentOf,
  checkModel,
  predictionsOf,
  withPredicted,
  type Connect,
} from './agents/agent-of-run.js';
import { Board } from './board/board.js';
import { compareTrials, type RunComparison } from './compare.js';
import { costLimitReached } from './cost-limit.js';
import { defaultFromMap, Images } from './engine/images.js';
import { isInSession } from './is-in-session.js';
import type { Task, Trial } from './model.js';
import type { NewRun } from './new-run.js';
import { knownValidity, preflight } from './preflight.js';
import type { Validity } from './validity.js';
import { tellRefused } from './tell-refused.js';
import { regradeTrials, usesServices } from './regrade.js';
import { lockResultsSoon } from './results/lock-results.js';
import { trialLine, writeFileAtomically } from './results/journal.js';
import { saveValidity, countedTrials, readValidity, writeReport } from './results/report.js';
import { checkUnchanged, withContent } from './results/run-content.js';
import { provenanceOf } from './results/provenance.js';
import { loadRun, saveRun, type RunFile } from './results/run-file.js';
import type { Summary } from './results/summary.js';
import { withRunRefusals } from './run-refusal.js';
import { runTrials, type EnvironmentFactory, type RunRequest } from './run.js';
import { randomSample } from './statistics.js';
import { suiteNamed } from './suites/index.js';
import { allPlaces, placesFor, type OpenPlaces } from './trial-places.js';

/** The connection, cache and callbacks of the program that starts a run. */
export interface EvaluationOptions {
  signal: AbortSignal;
  /**
   * Connects to the Belay server, which runs the agent `model` and shows every run on its board.
   * Throws if no server is running.
   */
  connect?: Connect;
  /** Without it, trials run on this machine alone. */
  openPlaces?: OpenPlaces;
  /** The folder for preflight results; without it, no preflight is read or run. */
  cache?: string;
  /** Replaces the limit that a run was started with; null removes it. */
  maxDollars?: number | null;
  onTrial?(trial: Trial, progress: { done: number; all: number }): void;
  /** Called for each trial of the preflight. */
  onCheck?(trial: Trial, progress: { done: number; all: number }): void;
  /** Called before the trials with the known validity of the tasks. */
  onValidity?(found: Validity[], tasks: number): void;
  /** A notice for the user. */
  onNotice?(sentence: string): void;
}

/** Starts a run in a new results folder. Throws `conflict` if the folder already contains a run. */
export async function startRun(request: NewRun, options: EvaluationOptions): Promise<Summary> {
  const path = resolve(request.data);
  const data = suiteNamed(request.suite).read(path, options.onNotice);
  const tasks = chosen(data, request);
  const run: RunFile = {
    version: 1,
    suite: request.suite,
    data: path,
    agent: request.agent,
    model: request.model ?? null,
    tasks: tasks.map(({ id }) => id),
    unattempted: [],
    attempts: request.attempts ?? 1,
    concurrency: request.concurrency ?? 2,
    network: request.network ?? 'none',
    places: request.places ?? [allPlaces],
    sessionLabels: request.sessionLabels ?? {},
    buildNetwork: request.buildNetwork ?? 'default',
    fromMap: [...(request.fromMap ?? []), ...defaultFromMap],
    sandbox: request.sandbox ?? null,
    timeoutMultiplier: request.timeoutMultiplier ?? 1,
    repos: request.repos ? resolve(request.repos) : null,
    preflight: request.preflight ?? false,
    content: null,
    labels: {},
    provenance: await provenanceOf(new DockerTasks()),
    created: new Date().toISOString(),
    boardId: request.boardId,
    maxDollars: request.maxDollars,
  };
  const out = resolve(request.out);
  if (existsSync(join(out, 'run.json')))
    throw new AppError(
      'conflict',
      `${request.out} already contains a run. Resume it with \`belay eval resume\`, or name another folder with --out.`,
    );
  const predictions = predictionsOf(run);
  const predicted = withContent(predictions ? withPredicted(run, predictions) : run, tasks);
  const opened = openedWith(out, predicted, data);
  return inFolder(out, async () => {
    await tellRefused(withRunRefusals(tasks, run), opened.environments.images, options);
    saveRun(out, predicted);
    return resumeHeld(opened, options, predictions?.agent);
  });
}

/** Runs `work` while the results folder is locked against other processes. */
async function inFolder(out: string, work: () => Promise<Summary>): Promise<Summary> {
  const release = await lockResultsSoon(out);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Runs the missing trials. The report equals that of a run that was never killed. */
export async function resumeRun(out: string, options: EvaluationOptions): Promise<Summary> {
  const { run, ...opened } = openRun(out);
  const { maxDollars = run.maxDollars } = options;
  const changed = { ...opened, run: { ...run, maxDollars: maxDollars ?? undefined } };
  return inFolder(out, () => resumeHeld(changed, options));
}

async function resumeHeld(
  opened: OpenRun,
  options: EvaluationOptions,
  known?: Agent,
): Promise<Summary> {
  const { out, run, tasks, environments } = opened;
  checkUnchanged(run, tasks);
  const agent = known ?? agentOf(run, options.connect);
  await checkModel(run, options.connect);
  return onBoard(opened, options, async (board) => {
    const { cache } = options;
    const validity =
      cache === undefined
        ? []
        : await checkTasks(opened, { ...options, cache }, { board, all: run.preflight });
    board?.begin();
    const broken = tasks.filter((task) => task.broken);
    for (const { id, unsupported } of broken)
      options.onNotice?.(`The task ${id} is not run and counts as 0: ${unsupported}`);
    const { attempts, concurrency, network, maxDollars } = run;
    const request: RunRequest = {
      tasks: withRunRefusals(tasks, run),
      agent,
      attempts,
      concurrency,
      network,
      maxDollars,
      out,
      signal: options.signal,
      known: validity,
      onTrial: (trial, progress) => {
        board?.judged(trial);
        options.onTrial?.(trial, progress);
      },
      onState: (of, state) => board?.at(of, state),
      onNotice: options.onNotice,
    };
    // The preflight stays on this machine: what it finds holds for later runs, too.
    const places = await placesFor(run.places, environments.engine, options.openPlaces);
    await runTrials(request, { ...environments, places });
    return reportOf(opened, options);
  });
}

/** Verifies stored artifacts again, with the current data. Calls no agent and no model. */
export async function regradeRun(out: string, options: EvaluationOptions): Promise<Summary> {
  const opened = openRun(out);
  const { run, tasks, environments } = opened;
  return inFolder(out, () =>
    onBoard(opened, options, async (board) => {
      board?.begin();
      const { trials } = countedTrials(out);
      for (const { id } of tasks.filter(usesServices))
        options.onNotice?.(
          `The task ${id} keeps its verdicts: its tests use services, which are gone.`,
        );
      const request = { out: opened.out, trials, tasks, network: run.network, ...options };
      const regraded = await regradeTrials(request, environments);
      writeFileAtomically(join(out, 'regraded.jsonl'), regraded.map(trialLine).join(''));
      return reportOf(opened, options);
    }),
  );
}

/**
 * Checks the run's tasks with the reference solution and with no change; the report shows the
 * results.
 */
export async function preflightRun(
  out: string,
  options: EvaluationOptions & { cache: string },
): Promise<Summary> {
  const opened = openRun(out);
  return inFolder(out, () =>
    onBoard(opened, options, async (board) => {
      await checkTasks(opened, options, { board, all: true });
      return reportOf(opened, options);
    }),
  );
}

/** The known validity of the run's tasks; with `all`, a preflight checks the others first. */
async function checkTasks(
  { out, run, tasks, environments }: OpenRun,
  options: EvaluationOptions & { cache: string },
  { board, all }: { board: Board | undefined; all: boolean },
): Promise<Validity[]> {
  const { concurrency, network } = run;
  const { cache, signal } = options;
  const onCheck: EvaluationOptions['onCheck'] = (trial, progress) => {
    board?.checked(progress);
    options.onCheck?.(trial, progress);
  };
  const folder = join(out, 'preflight');
  const request = { tasks, concurrency, network, out: folder, cache, signal, onCheck };
  const found = all
    ? await preflight(request, environments)
    : await knownValidity(tasks, { cache, images: environments.images });
  if (found.length > 0) saveValidity(out, found);
  options.onValidity?.(found, tasks.length);
  return found;
}

/** Reports the run's progress and its end to the server's board. */
async function onBoard(
  { out, run }: Pick<OpenRun, 'out' | 'run'>,
  { connect, onNotice, signal }: EvaluationOptions,
  work: (board: Board | undefined) => Promise<Summary>,
): Promise<Summary> {
  const board = connect && (await Board.open({ out, connect, onNotice }));
  if (board) onNotice?.(`Live board: ${board.url}`);
  const end = async (...how: Parameters<Board['close']>) => {
    if (board && !(await board.close(...how)))
      onNotice?.('The server stopped responding, so its board does not show how this run ended.');
  };
  try {
    const summary = await work(board);
    const missing = summary.trials.all - summary.trials.done;
    if (missing === 0) await end('finished', null);
    else {
      const limit = costLimitReached(countedTrials(out).trials, run.maxDollars);
      if (limit !== undefined) onNotice?.(limit);
      await end('interrupted', limit ?? `${missing} trials have not been run yet.`);
    }
    return summary;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await end(signal.aborted ? 'interrupted' : 'failed', reason);
    throw error;
  }
}

/** Writes summary.json, report.html and, if the run's data still exist, the suite's own files. */
export function rebuildReport(
  out: string,
  { connect }: Pick<EvaluationOptions, 'connect'> = {},
): Summary {
  const run = loadRun(out);
  const data = existsSync(run.data) ? suiteNamed(run.suite).read(run.data) : null;
  return reportOf({ out, run, data }, { connect });
}

function reportOf(
  { out, run, data }: Pick<OpenRun, 'out' | 'run'> & { data: Task[] | null },
  { connect }: Pick<EvaluationOptions, 'connect'>,
): Summary {
  return writeReport(out, {
    run,
    data,
    server: isInSession(run.agent) ? serverOf(connect) : null,
  });
}

/** The base URL for replays; null if no server is running. */
function serverOf(connect: EvaluationOptions['connect']): string | null {
  try {
    return connect?.().url ?? null;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

export function compareRuns(a: string, b: string): RunComparison {
  loadRun(a);
  loadRun(b);
  return compareTrials(
    { ...countedTrials(a), validity: readValidity(a) },
    { ...countedTrials(b), validity: readValidity(b) },
  );
}

/** Multiplies the seconds of a task’s limits. */
export const withLimits = (task: Task, times: number): Task => ({
  ...task,
  steps: task.steps.map((step) => {
    const { build, agent, verify } = step.limits;
    return {
      ...step,
      limits: { build: build * times, agent: agent * times, verify: verify * times },
    };
  }),
});

/** A results folder with the data of its run, read once. */
interface OpenRun {
  /** Absolute. */
  out: string;
  run: RunFile;
  /** All tasks in the data; `tasks` are those of the run, with its time limits. */
  data: Task[];
  tasks: Task[];
  environments: EnvironmentFactory;
}

function openRun(out: string): OpenRun {
  const run = loadRun(out);
  return openedWith(out, run, suiteNamed(run.suite).read(run.data));
}

function openedWith(out: string, run: RunFile, data: Task[]): OpenRun {
  const wanted = new Set(run.tasks);
  const tasks = data
    .filter(({ id }) => wanted.has(id))
    .map((task) => withLimits(task, run.timeoutMultiplier));
  return { out: resolve(out), run, data, tasks, environments: environmentsOf(run) };
}

function environmentsOf({ sandbox, fromMap, repos, buildNetwork }: RunFile): EnvironmentFactory {
  const engine = new DockerTasks();
  return { engine, images: new Images({ engine, sandbox, fromMap, repos, buildNetwork }) };
}

function chosen(tasks: Task[], { tasks: ids, sample: count, seed = 1 }: NewRun): Task[] {
  const missing = (ids ?? []).filter((id) => !tasks.some((task) => task.id === id));
  if (missing.length > 0)
    throw new AppError('invalid_input', `The data has no task ${missing.join(', ')}.`);
  const named = ids?.length ? tasks.filter(({ id }) => ids.includes(id)) : tasks;
  return count === undefined ? named : randomSample(named, count, seed);
}
