import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, type TrialState } from '@belay/protocol';
import type { Agent, Bench } from './agents/agent.js';
import type { Submission } from './carry.js';
import type { Engine } from './engine/engine.js';
import type { Images } from './engine/images.js';
import { hashOf } from './entries.js';
import type { Task, Trial } from './model.js';
import { Journal, trialFolder, writeWhole } from './results/journal.js';
import { Machine } from './schedule.js';
import { runTrial, type TrialRecorder } from './trial.js';

export interface RunRequest {
  tasks: Task[];
  agent: Agent;
  attempts: number;
  concurrency: number;
  out: string;
  network: 'none' | 'declared';
  signal: AbortSignal;
  onTrial?(trial: Trial, progress: { done: number; all: number }): void;
  /** What a trial that has no verdict yet does from now on. */
  onState?(of: Pick<Trial, 'task' | 'attempt' | 'session'>, state: TrialState): void;
}

export interface Machinery {
  engine: Engine;
  images: Images;
}

/**
 * Runs every trial that the results do not have yet, so that the same call again resumes: a trial is known by
 * the content of its task, the agent, the model and its number. Rejects when the signal is aborted; what was
 * done by then is kept.
 */
export async function runTrials(request: RunRequest, machinery: Machinery): Promise<Trial[]> {
  const { tasks, agent, attempts, concurrency, out, signal } = request;
  mkdirSync(out, { recursive: true });
  const run = runIdOf(out);
  await machinery.engine.sweep(run);
  const journal = new Journal(join(out, 'results.jsonl'));
  const wanted = tasks.flatMap((task) =>
    Array.from({ length: attempts }, (_, index) => ({ task, attempt: index + 1 })),
  );
  const keyed = wanted.map((trial) => ({ ...trial, key: keyOf(trial.task, agent, trial.attempt) }));
  const todo = keyed.filter(({ key }) => !journal.trials.has(key));
  const machine = new Machine({ ...(await machinery.engine.capacity()), concurrency });
  const bench: Bench = { engine: machinery.engine, run, network: request.network };
  const tell = (trial: (typeof todo)[number], state: TrialState, session: string | null = null) =>
    request.onState?.({ ...nameOf(trial), session }, state);
  const once = (trial: (typeof todo)[number]) =>
    runTrial(
      { ...trial, agent, signal, onState: (...now) => tell(trial, ...now) },
      { bench, images: machinery.images, recorder: recorderIn(trialFolder(out, nameOf(trial))) },
    );
  const count = (trial: Trial) => {
    journal.append(trial);
    request.onTrial?.(trial, { done: journal.trials.size, all: keyed.length });
  };
  const again: typeof todo = [];
  try {
    await all(
      todo.map(
        (trial) => () =>
          machine.with(trial.task.environment, async () => {
            if (signal.aborted) return;
            const done = await once(trial);
            if (done.verdict.cause !== 'infrastructure') return count(done);
            tell(trial, 'queued');
            again.push(trial);
          }),
      ),
    );
    // What the machine spoiled is tried once more, alone, before it counts.
    for (const trial of again) count(await once(trial));
    signal.throwIfAborted();
  } finally {
    journal.close();
    await machinery.engine.sweep(run);
  }
  return keyed.flatMap(({ key }) => journal.trials.get(key) ?? []);
}

/** Waits for all of them even when one fails, so that nothing is left running; then the first failure is thrown. */
async function all(works: (() => Promise<void>)[]): Promise<void> {
  const ended = await Promise.allSettled(works.map((work) => work()));
  const broken = ended.find((result) => result.status === 'rejected');
  if (broken) throw broken.reason;
}

const nameOf = ({ task, attempt }: { task: Task; attempt: number }) => ({ task: task.id, attempt });

export const keyOf = (task: Task, agent: Agent, attempt: number): string =>
  hashOf(task.suite, task.id, task.content, agent.name, agent.model, attempt);

/** A label for the containers of a results folder: a resumed run finds what a killed one has left. */
const runIdOf = (out: string): string => hashOf('run', out).slice(0, 12);

/** Keeps what was handed in, so that a regrade needs no agent, and what the tests said. */
function recorderIn(folder: string): TrialRecorder {
  return {
    handedIn: (name, submission) => {
      saveSubmission(join(folder, name), submission);
    },
    trajectory: (steps) =>
      writeWhole(join(folder, 'trajectory.json'), `${JSON.stringify(steps, undefined, 2)}\n`),
    verified: (name, { output, files }) => {
      writeWhole(join(folder, name, 'test-output.txt'), output);
      for (const [path, bytes] of files)
        if (path.startsWith('/'))
          writeWhole(join(folder, name, 'verifier', path.split('/').at(-1) ?? 'file'), bytes);
    },
  };
}

function saveSubmission(folder: string, submission: Submission): void {
  const { entries, patch, ...rest } = submission;
  const kept = entries.map((entry) => ({ ...entry, bytes: entry.bytes.toString('base64') }));
  writeWhole(join(folder, 'submission.json'), JSON.stringify({ ...rest, entries: kept }));
  if (patch) writeWhole(join(folder, 'patch.diff'), patch);
}

/** What was handed in by a trial of an earlier run. */
export function loadSubmission(folder: string): Submission {
  const path = join(folder, 'submission.json');
  if (!existsSync(path))
    throw new AppError('not_found', `${folder} has no submission: it cannot be graded again.`);
  const saved = JSON.parse(readFileSync(path, 'utf8')) as Omit<Submission, 'patch' | 'entries'> & {
    entries: (Omit<Submission['entries'][number], 'bytes'> & { bytes: string })[];
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
