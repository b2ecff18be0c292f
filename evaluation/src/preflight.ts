import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nop, oracle } from './agents/baselines.js';
import type { Images } from './engine/images.js';
import { contentHash } from './entries.js';
import type { Task, Trial, Verdict } from './model.js';
import { writeFileAtomically } from './results/journal.js';
import { passingOf } from './references.js';
import type { Validity } from './validity.js';
import { runTrials, type EnvironmentFactory, type RunRequest } from './run.js';

export type PreflightRequest = Omit<RunRequest, 'agent' | 'attempts' | 'onTrial' | 'onState'> & {
  /** The folder in which verdicts are stored by the content of task and image. */
  cache: string;
  onCheck?(trial: Trial, progress: { done: number; all: number }): void;
};

/** Earlier preflight results for these tasks on these images; unknown ones are left out. */
export async function knownValidity(
  tasks: Task[],
  { cache, images }: { cache: string; images: Images },
): Promise<Validity[]> {
  const found: Validity[] = [];
  for (const task of tasks) {
    const path = await fileOf(task, { cache, images });
    if (!existsSync(path)) continue;
    const kept = JSON.parse(readFileSync(path, 'utf8')) as Validity;
    found.push({ ...kept, task: task.id });
  }
  return found;
}

/**
 * Checks every task with the reference solution and with no change: a task is not valid if `nop`
 * passes it or `oracle` fails it.
 */
export async function preflight(
  request: PreflightRequest,
  environments: EnvironmentFactory,
): Promise<Validity[]> {
  const { cache, onCheck } = request;
  const { images } = environments;
  const known = byTask(await knownValidity(request.tasks, { cache, images }));
  const tasks = request.tasks.filter(({ id }) => !known.has(id));
  const verdicts = async (agent: typeof nop, before: number) => {
    const onTrial: RunRequest['onTrial'] = (trial, { done }) =>
      onCheck?.(trial, { done: before + done, all: 2 * tasks.length });
    const out = join(request.out, agent.name);
    const trials = await runTrials(
      { ...request, tasks, agent, attempts: 1, out, onTrial },
      environments,
    );
    return new Map(trials.map(({ task, verdict }) => [task, verdict]));
  };
  if (tasks.length === 0) return [...known.values()];
  const solved = await verdicts(oracle, 0);
  const idle = await verdicts(nop, tasks.length);
  for (const task of tasks) {
    const validity = judgedValidity(task, solved.get(task.id), idle.get(task.id));
    known.set(task.id, validity);
    // Invalid verdicts are not stored, because they say nothing about the task.
    if (![validity.nop, validity.oracle].includes('invalid'))
      writeFileAtomically(await fileOf(task, { cache, images }), JSON.stringify(validity));
  }
  return request.tasks.flatMap(({ id }) => known.get(id) ?? []);
}

export function judgedValidity(task: Task, solved?: Verdict, idle?: Verdict): Validity {
  const found = {
    task: task.id,
    oracle: solved?.outcome ?? 'invalid',
    nop: idle?.outcome ?? 'invalid',
  };
  const why =
    found.oracle !== 'pass'
      ? `The reference solution does not pass: ${solved?.detail ?? 'it was not run.'}`
      : found.nop === 'pass'
        ? 'An agent that does nothing passes, so the task cannot tell agents apart.'
        : null;
  const tests = solved && passingOf(solved);
  return { ...found, valid: why === null, why, ...(tests && { tests }) };
}

const byTask = (found: Validity[]) => new Map(found.map((validity) => [validity.task, validity]));

/**
 * Results depend on the content of the task and its image, but not on the task's name or the
 * location of its data.
 */
async function fileOf(task: Task, { cache, images }: { cache: string; images: Images }) {
  const { image, services = [] } = task.environment;
  const stamps = [image, ...services.map((each) => each.image)].map((each) => images.stamp(each));
  return join(
    cache,
    `${contentHash(task.suite, task.content, ...(await Promise.all(stamps)))}.json`,
  );
}
