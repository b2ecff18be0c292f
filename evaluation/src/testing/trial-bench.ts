import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../agents/agent.js';
import { command } from '../agents/baselines.js';
import { Engine } from '../engine/engine.js';
import { defaultFromMap, Images } from '../engine/images.js';
import type { Trial } from '../model.js';
import { runTrials } from '../run.js';
import { suiteNamed } from '../suites/index.js';
import type { Validity } from '../validity.js';
import { temporary } from './fixtures.js';

type Toolchain = 'base' | 'javascript' | 'java' | 'cpp';

const engine = new Engine();

/** Trials in real containers for the tests of one file: the images of these toolchains are there before them. */
export class TrialBench {
  readonly images = new Images({
    engine,
    sandbox: process.env.BELAY_TEST_IMAGE ?? null,
    fromMap: defaultFromMap,
  });
  readonly #temporary = temporary();
  /** For the data of the tests; removed after them. */
  readonly folder = this.#temporary.folder;
  readonly #made: string[] = [];

  constructor(toolchains: Toolchain[] = ['base']) {
    beforeAll(async () => {
      for (const name of toolchains)
        await this.images.ensure({ kind: 'toolchain', name }, AbortSignal.timeout(590_000));
    }, 600_000);
    afterAll(async () => {
      this.#temporary.remove();
      for (const name of this.#made) await engine.forget(name);
    });
  }

  /** An image that the tests made, to be removed after them. */
  forgetAfter(image: string): void {
    this.#made.push(image);
  }

  /** One trial of the only task of this data. */
  async trial(suite: string, data: string, agent: Agent, known?: Validity[]): Promise<Trial> {
    const [trial] = await runTrials(
      {
        tasks: suiteNamed(suite).read(data),
        agent,
        attempts: 1,
        concurrency: 1,
        network: 'none',
        out: mkdtempSync(join(this.folder, 'run-')),
        signal: new AbortController().signal,
        ...(known && { known }),
      },
      { engine, images: this.images },
    );
    if (!trial) throw new Error(`${data} has no task.`);
    return trial;
  }
}

/** An agent that leaves these files as its answer. */
export function answering(files: Record<string, string>): Agent {
  return command(
    Object.entries(files)
      .map(([path, text]) => `echo ${Buffer.from(text).toString('base64')} | base64 -d > ${path}`)
      .join(' && '),
  );
}
