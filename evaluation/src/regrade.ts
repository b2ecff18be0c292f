import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { fixedArtifacts } from './agents/baselines.js';
import type { Agent } from './agents/agent.js';
import type { Task, Trial } from './model.js';
import { contentHash } from './entries.js';
import { trialFolder } from './results/journal.js';
import { References } from './references.js';
import { loadArtifacts, type EnvironmentFactory } from './run.js';
import { runTrial } from './trial.js';
import { thisMachine } from './trial-places.js';

export interface RegradeRequest {
  out: string;
  trials: Trial[];
  tasks: Task[];
  network: 'none' | 'declared';
  signal: AbortSignal;
  onTrial?(trial: Trial, progress: { done: number; all: number }): void;
}

/**
 * New verdicts for stored artifacts; the agent’s cost stays the same. Trials whose tests use
 * services keep their verdict.
 */
export async function regradeTrials(
  { out, trials, tasks, network, signal, onTrial }: RegradeRequest,
  { engine, images }: EnvironmentFactory,
): Promise<Trial[]> {
  const run = contentHash('regrade', out).slice(0, 12);
  const regraded: Trial[] = [];
  const references = new References();
  for (const before of trials) {
    const task = tasks.find(({ id }) => id === before.task);
    if (!task) continue;
    if (usesServices(task)) {
      regraded.push(before);
      continue;
    }
    const after = await runTrial(
      {
        task,
        agent: replayAgent(trialFolder(out, before), before),
        attempt: before.attempt,
        key: before.key,
        signal,
      },
      {
        place: thisMachine,
        runContext: { host: engine, engine, run, network },
        references,
        images,
        hooks: {},
      },
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

/** Whether the tests depend on what the agent did to running services, which are gone. */
export const usesServices = ({ environment, steps }: Task): boolean =>
  Boolean(environment.services?.length) && steps.some(({ verifier }) => !verifier.environment);

/** Returns the stored artifacts, or those of the last try if there were several. */
function replayAgent(folder: string, { tries }: Trial): Agent {
  return {
    name: 'saved',
    model: null,
    setup: () =>
      fixedArtifacts(({ name }) => {
        const last = join(folder, `${name}.${tries?.length ?? 1}`);
        return loadArtifacts(existsSync(last) ? last : join(folder, name));
      }),
  };
}
