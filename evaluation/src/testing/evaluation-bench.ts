import { join } from 'node:path';
import { DockerTasks } from '@belay/containers';
import type { Agent } from '../agents/agent.js';
import { defaultFromMap, Images } from '../engine/images.js';
import type { Task, TimeLimits, Trial } from '../model.js';
import { runTrials, type RunRequest } from '../run.js';
import { suiteNamed } from '../suites/index.js';
import { doubling, temporary, write } from './fixtures.js';

/** Runs the trials of tasks, each time with results of their own. */
export class EvaluationBench {
  readonly images: Images;
  readonly #engine = new DockerTasks();
  readonly #temporary = temporary();
  #runs = 0;

  constructor(sandbox: string | null) {
    this.images = new Images({ engine: this.#engine, sandbox, fromMap: defaultFromMap });
    beforeAll(
      () => this.images.ensure({ kind: 'toolchain', name: 'base' }, AbortSignal.timeout(280_000)),
      300_000,
    );
    afterAll(this.#temporary.remove);
  }

  /** For data and results; removed after the tests. */
  get folder(): string {
    return this.#temporary.folder;
  }

  readonly trials = (
    tasks: Task[],
    agent: Agent,
    more: Partial<RunRequest> = {},
  ): Promise<Trial[]> =>
    runTrials(
      {
        tasks,
        agent,
        attempts: 1,
        concurrency: 3,
        network: 'none',
        out: join(this.folder, `run-${++this.#runs}`),
        signal: new AbortController().signal,
        ...more,
      },
      { engine: this.#engine, images: this.images },
    );

  /** Tasks of HumanEval with these names. */
  tasks(...names: string[]): Task[] {
    const problems = names.map((name) => ({ ...doubling, task_id: `Own/${name}` }));
    const data = write(join(this.folder, names.join('-')), {
      'human-eval.jsonl': problems.map((each) => `${JSON.stringify(each)}\n`).join(''),
    });
    return suiteNamed('human-eval').read(join(data, 'human-eval.jsonl'));
  }
}

/** The task with other limits. */
export const limited = (task: Task, limits: Partial<TimeLimits>): Task => ({
  ...task,
  steps: task.steps.map((step) => ({ ...step, limits: { ...step.limits, ...limits } })),
});
