import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TaskHost } from '@belay/containers';
import { AppError, type TrialState } from '@belay/protocol';
import type { Agent, RunContext } from './agents/agent.js';
import { nop, oracle } from './agents/baselines.js';
import type { Artifacts } from './artifacts.js';
import type { Images } from './engine/images.js';
import { costLimitReached } from './cost-limit.js';
import { contentHash } from './entries.js';
import type { Task, TaskEnvironment, Trial } from './model.js';
import type { Validity } from './validity.js';
import { References } from './references.js';
import { Journal, trialFolder, writeInside } from './results/journal.js';
import { ResourceSemaphore } from './resource-semaphore.js';
import { runTrial, type TrialHooks } from './trial.js';

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
  onState?(of: Pick<Trial, 'task' | 'attempt' | 'session'>, state: TrialState): void;
}

/** The source of environments: the container engine and the images of tasks. */
export interface EnvironmentFactory {
  engine: TaskHost;
  images: Images;
}

/**
 * Runs every trial that is missing from the results, so calling it again resumes the run: a trial
 * is identified by its task’s content, the agent, the model and its number. Rejects when the signal
 * is aborted; finished trials are kept. Trials beyond the limit of the cost stay missing.
 */
export async function runTrials(
  request: RunRequest,
  environments: EnvironmentFactory,
): Promise<Trial[]> {
  const { tasks, agent, attempts, concurrency, out, signal } = request;
  mkdirSync(out, { recursive: true });
  const run = runIdOf(out);
  await environments.engine.sweep(run);
  const giveUp = environments.engine.guard(run);
  const journal = new Journal(join(out, 'results.jsonl'));
  const wanted = tasks.flatMap((task) =>
    Array.from({ length: attempts }, (_, index) => ({ task, attempt: index + 1 })),
  );
  const keyed = wanted.map((trial) => ({
    ...trial,
    key: trialKey(trial.task, agent, trial.attempt),
  }));
  const todo = keyed.filter(({ key }) => !journal.trials.has(key));
  const resources = new ResourceSemaphore({
    ...(await environments.engine.capacity()),
    concurrency,
  });
  const runContext: RunContext = { engine: environments.engine, run, network: request.network };
  const references = isBaseline(agent) ? null : new References(request.known);
  const report = (trial: (typeof todo)[number], state: TrialState, session: string | null = null) =>
    request.onState?.({ ...nameOf(trial), session }, state);
  const once = (trial: (typeof todo)[number]) =>
    runTrial(
      { ...trial, agent, signal },
      {
        runContext,
        references,
        images: environments.images,
        hooks: {
          ...recordingIn(out, trialFolder(out, nameOf(trial))),
          onState: (...now) => report(trial, ...now),
        },
      },
    );
  const count = (trial: Trial) => {
    journal.append(trial);
    request.onTrial?.(trial, { done: journal.trials.size, all: keyed.length });
  };
  const isSpent = () => costLimitReached(journal.trials.values(), request.maxDollars) !== undefined;
  const again: typeof todo = [];
  try {
    await all(
      todo.map(
        (trial) => () =>
          resources.with(resourcesOf(trial.task.environment), async () => {
            if (signal.aborted || isSpent()) return;
            const done = await once(trial);
            if (done.verdict.cause !== 'infrastructure') return count(done);
            report(trial, 'queued');
            again.push(trial);
          }),
      ),
    );
    // A trial that failed because of the infrastructure is repeated once, alone, before it counts.
    for (const trial of again) if (!isSpent()) count(await once(trial));
    signal.throwIfAborted();
  } finally {
    journal.close();
    await environments.engine.sweep(run);
    giveUp();
  }
  return keyed.flatMap(({ key }) => journal.trials.get(key) ?? []);
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
 * has left.
 */
const runIdOf = (out: string): string => contentHash('run', out).slice(0, 12);

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
