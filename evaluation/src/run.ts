import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { TaskEngine } from '@belay/containers';
import { AppError, type TrialState } from '@belay/protocol';
import type { Agent } from './agents/agent.js';
import { nop, oracle } from './agents/baselines.js';
import type { Artifacts } from './artifacts.js';
import type { Images } from './engine/images.js';
import { costLimitReached } from './cost-limit.js';
import { contentHash } from './entries.js';
import type { Task, TaskEnvironment, Trial } from './model.js';
import type { Validity } from './validity.js';
import { lackAt, withPlaceRefusals } from './place-refusals.js';
import { References } from './references.js';
import { Journal, trialFolder, writeInside } from './results/journal.js';
import { ResourceSemaphore } from './resource-semaphore.js';
import { tellRefusals } from './tell-refused.js';
import { runTrial, type TrialHooks, type TrialRequest } from './trial.js';
import { ownPlace, usablePlaces, type TrialPlace } from './trial-places.js';

export interface RunRequest {
  tasks: Task[];
  agent: Agent;
  attempts: number;
  concurrency: number;
  out: string;
  network: 'none' | 'declared';
  signal: AbortSignal;
  /** No more trials are started once they have cost this much. */
  maxDollars?: number;
  /** Known preflight results for the tasks. */
  known?: Validity[];
  onTrial?(trial: Trial, progress: { done: number; all: number }): void;
  /** Called when the state of a trial without a verdict has changed. */
  onState?(of: TrialRef, state: TrialState): void;
  /** A sentence about a place that runs no trials, or not one of them. */
  onNotice?(sentence: string): void;
}

/** A trial without a verdict. */
export type TrialRef = Pick<Trial, 'task' | 'attempt' | 'session' | 'place'>;

/** The source of environments: the container engine and the images of tasks. */
export interface EnvironmentFactory {
  engine: TaskEngine;
  images: Images;
  /** Where trials run; on the engine alone if absent. */
  places?: readonly TrialPlace[];
}

/**
 * Runs every trial that is missing from the results, so calling it again resumes the run: a trial
 * is identified by its task’s content, the agent, the model and its number. Rejects when the signal
 * is aborted; finished trials are kept. Trials beyond the limit of the cost stay missing. A trial
 * that the infrastructure of a place fails runs again at each other one before it counts.
 */
export async function runTrials(
  request: RunRequest,
  environments: EnvironmentFactory,
): Promise<Trial[]> {
  const { tasks, agent, attempts, out, signal } = request;
  mkdirSync(out, { recursive: true });
  const journal = new Journal(join(out, 'results.jsonl'));
  try {
    const keyed = tasks.flatMap((task) =>
      Array.from({ length: attempts }, (_, index) => ({
        task,
        attempt: index + 1,
        key: trialKey(task, agent, index + 1),
      })),
    );
    const todo = keyed.filter(({ key }) => !journal.trials.has(key));
    const count = (trial: Trial) => {
      journal.append(trial);
      request.onTrial?.(trial, { done: journal.trials.size, all: keyed.length });
    };
    const isOver = () =>
      signal.aborted || costLimitReached(journal.trials.values(), request.maxDollars) !== undefined;
    await atPlaces({ request, environments, todo, count, isOver });
    return keyed.flatMap(({ key }) => journal.trials.get(key) ?? []);
  } finally {
    journal.close();
  }
}

type TrialToDo = Pick<TrialRequest, 'attempt' | 'key' | 'task'>;

interface Work {
  request: RunRequest;
  environments: EnvironmentFactory;
  todo: TrialToDo[];
  count(trial: Trial): void;
  /** Whether no more trials are started. */
  isOver(): boolean;
}

async function atPlaces({ request, environments, todo, count, isOver }: Work): Promise<void> {
  const { agent, concurrency, signal, onNotice = () => undefined } = request;
  const { engine, places: wanted = [ownPlace(engine)] } = environments;
  const usable = await usablePlaces(wanted, onNotice);
  const resources = new ResourceSemaphore(usable, concurrency);
  const places = usable.map(({ place }) => place);
  const needs = { agent, engine, network: request.network };
  const isOpen = (place: TrialPlace, { task }: TrialToDo) =>
    !place.away.aborted &&
    usable.some((one) => one.place === place && lackAt(one, task, needs) === undefined);
  const wantedTrials = withPlaceRefusals(todo, usable, needs);
  tellRefusals(
    wantedTrials.filter(({ task }, at) => task !== todo[at]?.task),
    onNotice,
  );
  const once = trialsOf(request, environments);
  const again: { trial: TrialToDo; failed: Trial }[] = [];
  const judge = async (trial: TrialToDo): Promise<void> => {
    const tried = new Set<TrialPlace>();
    const mayUse = (place: TrialPlace) => !tried.has(place) && isOpen(place, trial);
    // It counts before the next one begins, so that the limit of the cost holds.
    const next = async (place: TrialPlace) => {
      tried.add(place);
      if (isOver()) return undefined;
      const done = await once(trial, place);
      if (done.verdict.cause === 'infrastructure') return done;
      count(done);
      return undefined;
    };
    for (let failed: Trial | undefined; ;) {
      const ran = resources.with(resourcesOf(trial.task.environment), next, mayUse);
      const done = await ran.catch((error: unknown) => {
        // The other places may have gone while it waited.
        if (failed && error instanceof AppError && error.code === 'unavailable') return failed;
        throw error;
      });
      if (!done) return;
      request.onState?.({ ...nameOf(trial), session: null }, 'queued');
      if (!places.some(mayUse)) {
        again.push({ trial, failed: done });
        return;
      }
      onNotice(`${trial.task.id} runs again elsewhere: ${done.verdict.detail}`);
      failed = done;
    }
  };
  const releases = await guarded(places, runIdOf(request.out));
  try {
    await all(wantedTrials.map((trial) => () => judge(trial)));
    // A trial that failed because of the infrastructure is repeated once, alone, before it counts.
    for (const { trial, failed } of again) {
      const place = places.find((one) => isOpen(one, trial));
      if (!isOver()) count(place ? await once(trial, place) : failed);
    }
    signal.throwIfAborted();
  } finally {
    await releases();
  }
}

/** Removes what a killed run has left at the places; the returned function removes what this one leaves. */
async function guarded(places: readonly TrialPlace[], run: string): Promise<() => Promise<void>> {
  for (const { host } of places) await host.sweep(run);
  const giveUps = places.map(({ host }) => host.guard(run));
  return async () => {
    for (const { host } of places) await host.sweep(run);
    for (const giveUp of giveUps) giveUp();
  };
}

/** Runs a trial once at a place, and records it. */
function trialsOf(
  { agent, known, network, onState, out, signal }: RunRequest,
  { engine, images }: EnvironmentFactory,
): (trial: TrialToDo, place: TrialPlace) => Promise<Trial> {
  /** Those of each place are its own: a machine’s reference run must not decide about the others’ trials. */
  const references = new Map<string, References>();
  const run = runIdOf(out);
  return (trial, { host, name: place }) => {
    const own = references.get(place) ?? new References(known);
    references.set(place, own);
    return runTrial(
      { ...trial, agent, signal },
      {
        place,
        runContext: { host, engine, run, network },
        references: isBaseline(agent) ? null : own,
        images,
        hooks: {
          ...recordingIn(out, trialFolder(out, nameOf(trial))),
          onState: (state, session) => onState?.({ ...nameOf(trial), session, place }, state),
        },
      },
    );
  };
}

/** What a trial needs, with the services of its task. */
const resourcesOf = ({ cpus, memoryMb, services = [] }: TaskEnvironment) =>
  [{ cpus, memoryMb }, ...services].reduce((sum, each) => ({
    cpus: sum.cpus + each.cpus,
    memoryMb: sum.memoryMb + each.memoryMb,
  }));

/**
 * Waits for all even when one rejects, so that nothing is left running; then rejects with the first
 * error.
 */
async function all(tasks: (() => Promise<void>)[]): Promise<void> {
  const settled = await Promise.allSettled(tasks.map((task) => task()));
  const rejected = settled.find((result) => result.status === 'rejected');
  if (rejected) throw rejected.reason;
}

/**
 * Baselines are not compared with the reference: `oracle` is the reference, and `nop` must fail
 * without it.
 */
const isBaseline = ({ name }: Agent): boolean => name === oracle.name || name === nop.name;

const nameOf = ({ task, attempt }: { task: Task; attempt: number }) => ({ task: task.id, attempt });

export const trialKey = (task: Task, agent: Agent, attempt: number): string =>
  contentHash(task.suite, task.id, task.content, agent.name, agent.model, attempt);

/**
 * A label for a results folder’s containers, by which a resumed run finds those that a killed one
 * has left, also beside those of other machines.
 */
const runIdOf = (out: string): string => contentHash('run', hostname(), out).slice(0, 12);

/** Stores artifacts, so that a regrade needs no agent, and the output of the tests. */
function recordingIn(out: string, folder: string): TrialHooks {
  const keep = (path: string, content: string | Buffer) =>
    writeInside(out, join(folder, path), content);
  return {
    onAgentEnd: (name, artifacts) => {
      saveArtifacts((file, content) => keep(join(name, file), content), artifacts);
      if (artifacts.output) keep(join(name, 'agent-output.txt'), artifacts.output);
    },
    onTrajectory: (steps) => keep('trajectory.json', `${JSON.stringify(steps, undefined, 2)}\n`),
    onVerifierEnd: (name, { output, files }) => {
      keep(join(name, 'test-output.txt'), output);
      for (const [path, bytes] of files)
        if (path.startsWith('/')) keep(join(name, 'verifier', basename(path)), bytes);
    },
  };
}

function saveArtifacts(
  keep: (file: string, content: string | Buffer) => void,
  artifacts: Artifacts,
): void {
  const { entries, patch, output: _, ...rest } = artifacts;
  const kept = entries.map((entry) => ({ ...entry, bytes: entry.bytes.toString('base64') }));
  keep('artifacts.json', JSON.stringify({ ...rest, entries: kept }));
  if (patch) keep('patch.diff', patch);
}

/** The artifacts of a trial of an earlier run. */
export function loadArtifacts(folder: string): Artifacts {
  const path = join(folder, 'artifacts.json');
  if (!existsSync(path))
    throw new AppError(
      'not_found',
      `${folder} has no artifacts.json, so it cannot be regraded. Run the trial again.`,
    );
  const saved = JSON.parse(readFileSync(path, 'utf8')) as Omit<Artifacts, 'patch' | 'entries'> & {
    entries: (Omit<Artifacts['entries'][number], 'bytes'> & { bytes: string })[];
  };
  const patch = join(folder, 'patch.diff');
  return {
    ...saved,
    entries: saved.entries.map((entry) => ({
      ...entry,
      bytes: Buffer.from(entry.bytes, 'base64'),
    })),
    patch: existsSync(patch) ? readFileSync(patch) : null,
  };
}
