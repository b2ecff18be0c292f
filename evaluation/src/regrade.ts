import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { handsIn } from './agents/baselines.js';
import type { Agent } from './agents/agent.js';
import type { Task, Trial } from './model.js';
import { hashOf } from './entries.js';
import { trialFolder } from './results/journal.js';
import { loadSubmission, type Machinery } from './run.js';
import { runTrial } from './trial.js';

export interface RegradeRequest {
  out: string;
  trials: Trial[];
  tasks: Task[];
  network: 'none' | 'declared';
  signal: AbortSignal;
  onTrial?(trial: Trial, progress: { done: number; all: number }): void;
}

/** The verdicts of today for the work of then; what the agent spent stays as it was. */
export async function regradeTrials(
  { out, trials, tasks, network, signal, onTrial }: RegradeRequest,
  { engine, images }: Machinery,
): Promise<Trial[]> {
  const run = hashOf('regrade', out).slice(0, 12);
  const regraded: Trial[] = [];
  for (const before of trials) {
    const task = tasks.find(({ id }) => id === before.task);
    if (!task) continue;
    const ignore = () => undefined;
    const recorder = { handedIn: ignore, verified: ignore, trajectory: ignore };
    const after = await runTrial(
      {
        task,
        agent: saved(trialFolder(out, before), before),
        attempt: before.attempt,
        key: before.key,
        signal,
      },
      { bench: { engine, run, network }, images, recorder },
    );
    const { agent, model, session, tokens, dollars, started } = before;
    const seconds = { ...before.seconds, verify: after.seconds.verify };
    const tries = before.tries && [...before.tries.slice(0, -1), after.verdict];
    const trial = { ...after, agent, model, session, tokens, dollars, started, seconds, tries };
    regraded.push(trial);
    onTrial?.(trial, { done: regraded.length, all: trials.length });
  }
  return regraded;
}

/** Hands in what was handed in; of several tries the last. */
function saved(folder: string, { tries }: Trial): Agent {
  return {
    name: 'saved',
    model: null,
    begin: () =>
      handsIn(({ name }) => {
        const last = join(folder, `${name}.${tries?.length ?? 1}`);
        return loadSubmission(existsSync(last) ? last : join(folder, name));
      }),
  };
}
