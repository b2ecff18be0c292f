import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nop, oracle } from './agents/baselines.js';
import type { Engine } from './engine/engine.js';
import { hashOf } from './entries.js';
import type { Task, Verdict } from './model.js';
import { writeWhole } from './results/journal.js';
import { runTrials, type Machinery, type RunRequest } from './run.js';

export interface Validity {
  task: string;
  valid: boolean;
  nop: Verdict['outcome'];
  oracle: Verdict['outcome'];
  /** One sentence, when it is not valid. */
  why: string | null;
}

export type PreflightRequest = Omit<RunRequest, 'agent' | 'attempts' | 'onTrial'> & {
  /** Where verdicts are kept by the content of task and image. */
  cache: string;
  onTask?(validity: Validity, progress: { done: number; all: number }): void;
};

/** Every task with the reference solution and with nothing: one that nop passes or oracle fails tells nothing. */
export async function preflight(
  request: PreflightRequest,
  machinery: Machinery,
): Promise<Validity[]> {
  const stamp = await imageStamp(machinery.engine);
  const fileOf = (task: Task) =>
    join(request.cache, `${hashOf(task.id, task.content, stamp)}.json`);
  const unknown = request.tasks.filter((task) => !existsSync(fileOf(task)));
  const verdicts = async (agent: typeof nop) => {
    const out = join(request.out, agent.name);
    const trials = await runTrials(
      { ...request, tasks: unknown, agent, attempts: 1, out },
      machinery,
    );
    return new Map(trials.map(({ task, verdict }) => [task, verdict]));
  };
  const solved = await verdicts(oracle);
  const idle = await verdicts(nop);
  for (const task of unknown) {
    const validity = validityOf(task, solved.get(task.id), idle.get(task.id));
    const broken = [validity.nop, validity.oracle].includes('invalid');
    // An engine that failed says nothing about the task for the next time.
    writeWhole(broken ? `${fileOf(task)}.broken` : fileOf(task), JSON.stringify(validity));
  }
  return request.tasks.map((task, index) => {
    const path = existsSync(fileOf(task)) ? fileOf(task) : `${fileOf(task)}.broken`;
    const validity = JSON.parse(readFileSync(path, 'utf8')) as Validity;
    request.onTask?.(validity, { done: index + 1, all: request.tasks.length });
    return validity;
  });
}

export function validityOf(task: Task, solved?: Verdict, idle?: Verdict): Validity {
  const found = {
    task: task.id,
    oracle: solved?.outcome ?? 'invalid',
    nop: idle?.outcome ?? 'invalid',
  };
  const why =
    found.oracle !== 'pass'
      ? `The reference solution does not pass: ${solved?.detail ?? 'it was not run.'}`
      : found.nop === 'pass'
        ? 'Doing nothing passes: it cannot tell agents apart.'
        : null;
  return { ...found, valid: why === null, why };
}

/** Verdicts of another sandbox image do not count for this one. */
async function imageStamp(engine: Engine): Promise<string> {
  return (await engine.newest('belay/evaluation-base')) ?? 'none';
}
