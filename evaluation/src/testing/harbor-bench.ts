import { join } from 'node:path';
import { DockerTasks, type TaskEngine } from '@belay/containers';
import type { Agent } from '../agents/agent.js';
import type { Artifacts } from '../artifacts.js';
import { defaultFromMap, Images } from '../engine/images.js';
import type { Trial } from '../model.js';
import { regradeTrials } from '../regrade.js';
import { trialFolder } from '../results/journal.js';
import { loadArtifacts, runTrials } from '../run.js';
import { suiteNamed } from '../suites/index.js';
import { temporary, write } from './fixtures.js';

/** Runs single trials of tasks in Harbor's format, each with data and results of its own. */
export class HarborBench {
  readonly #environments: { engine: TaskEngine; images: Images };
  readonly #temporary = temporary();
  readonly #signal = new AbortController().signal;
  #runs = 0;

  constructor(sandbox: string | null) {
    const engine = new DockerTasks();
    this.#environments = {
      engine,
      images: new Images({ engine, sandbox, fromMap: defaultFromMap }),
    };
  }

  async start(): Promise<void> {
    const base = { kind: 'toolchain', name: 'base' } as const;
    await this.#environments.images.ensure(base, AbortSignal.timeout(280_000));
  }

  readonly trial = async (files: Record<string, string>, agent: Agent): Promise<Trial> => {
    this.#runs += 1;
    write(this.#data, { 'environment/Dockerfile': 'FROM ubuntu:24.04\nWORKDIR /app\n', ...files });
    const [found] = await runTrials(
      {
        tasks: this.#tasks,
        agent,
        attempts: 1,
        concurrency: 1,
        network: 'none',
        out: this.#out,
        signal: this.#signal,
      },
      this.#environments,
    );
    if (!found) throw new Error('The run has no trial.');
    return found;
  };

  /** What the last trial left. */
  artifacts(): Artifacts {
    const trial = { task: `data-${this.#runs}`, attempt: 1 };
    return loadArtifacts(join(trialFolder(this.#out, trial), 'solve'));
  }

  /** Verifies the last trial again. */
  regrade(trial: Trial): Promise<Trial[]> {
    const out = this.#out;
    return regradeTrials(
      { out, trials: [trial], tasks: this.#tasks, network: 'none', signal: this.#signal },
      this.#environments,
    );
  }

  remove(): void {
    this.#temporary.remove();
  }

  get #data(): string {
    return join(this.#temporary.folder, `data-${this.#runs}`);
  }

  get #out(): string {
    return join(this.#temporary.folder, `out-${this.#runs}`);
  }

  get #tasks() {
    return suiteNamed('harbor').read(this.#data);
  }
}
