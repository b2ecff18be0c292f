import { join } from 'node:path';
import type { Agent } from '../agents/agent.js';
import { Engine } from '../engine/engine.js';
import { defaultFromMap, Images } from '../engine/images.js';
import type { Trial } from '../model.js';
import { runTrials } from '../run.js';
import { suiteNamed } from '../suites/index.js';
import { temporary, write } from './fixtures.js';

/** Runs single trials of tasks in Harbor's format. */
export class HarborBench {
  readonly #engine = new Engine();
  readonly #images: Images;
  readonly #temporary = temporary();
  #runs = 0;

  constructor(sandbox: string | null) {
    this.#images = new Images({ engine: this.#engine, sandbox, fromMap: defaultFromMap });
  }

  async start(): Promise<void> {
    const base = { kind: 'toolchain', name: 'base' } as const;
    await this.#images.ensure(base, AbortSignal.timeout(280_000));
  }

  /** The folder of the last run's results. */
  get out(): string {
    return join(this.#temporary.folder, `out-${this.#runs}`);
  }

  readonly trial = async (files: Record<string, string>, agent: Agent): Promise<Trial> => {
    this.#runs += 1;
    const data = write(join(this.#temporary.folder, `data-${this.#runs}`), {
      'environment/Dockerfile': 'FROM ubuntu:24.04\nWORKDIR /app\n',
      ...files,
    });
    const [found] = await runTrials(
      {
        tasks: suiteNamed('harbor').read(data),
        agent,
        attempts: 1,
        concurrency: 1,
        network: 'none',
        out: this.out,
        signal: new AbortController().signal,
      },
      { engine: this.#engine, images: this.#images },
    );
    if (!found) throw new Error('The run has no trial.');
    return found;
  };

  remove(): void {
    this.#temporary.remove();
  }
}
