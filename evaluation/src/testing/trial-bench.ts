import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { DockerTasks } from '@belay/containers';
import { workdirOf, type Agent } from '../agents/agent.js';
import { fixedArtifacts } from '../agents/baselines.js';
import { noArtifacts } from '../artifacts.js';
import { defaultFromMap, Images } from '../engine/images.js';
import { fileEntry, ownedBy, under } from '../entries.js';
import { withLimits } from '../evaluation.js';
import type { ImageSource, Task, Trial } from '../model.js';
import { runTrials } from '../run.js';
import { suiteNamed } from '../suites/index.js';
import type { Validity } from '../validity.js';
import { temporary } from './fixtures.js';

type Toolchain = 'javascript' | 'java' | 'cpp';

/** Trials mostly wait for the engine, so more of them run than there are processors. */
class BusyEngine extends DockerTasks {
  override capacity = async () => ({
    cpus: Number.MAX_VALUE,
    memoryMb: Number.MAX_VALUE,
    lacks: [],
  });
}
const engine = new BusyEngine();

/**
 * The engine compares all files to list what a container has changed, so images for tests omit the
 * unused ones.
 */
const withoutUnused =
  'RUN find /usr/share -mindepth 1 -maxdepth 1 ! -name git-core -exec rm -rf {} + && rm -rf /usr/local/lib/node_modules /usr/lib/systemd /var/lib/dpkg';

const base = { kind: 'toolchain', name: 'base' } as const;

/**
 * Runs trials in real containers for one test file. The images of these toolchains are built before
 * its tests.
 */
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
  #small = '';

  constructor(toolchains: Toolchain[] = []) {
    beforeAll(async () => {
      const signal = AbortSignal.timeout(590_000);
      const { name: from } = await this.images.ensure(base, signal);
      for (const name of toolchains) await this.images.ensure({ kind: 'toolchain', name }, signal);
      const files = [fileEntry('Dockerfile', `FROM ${from}\n${withoutUnused}\n`)];
      this.#small = (await this.images.ensure({ kind: 'build', files }, signal)).name;
    }, 600_000);
    afterAll(async () => {
      this.#temporary.remove();
      for (const name of this.#made) await engine.forget(name);
    });
  }

  /** Removes an image after the tests. */
  forgetAfter(image: string): void {
    this.#made.push(image);
  }

  /**
   * A trial by each of the agents, in their order, of the only task in this data. The trials are
   * attempts of one run, a few at a time, and share its run of the reference.
   */
  trials(
    suite: string,
    data: string,
    { agents, known }: { agents: Agent[]; known?: Validity[] },
  ): Promise<Trial[]> {
    const agent: Agent = {
      name: agents.map(({ name }) => name).join(),
      model: null,
      setup: async (context) => {
        const own = agents[context.attempt - 1];
        if (!own) throw new Error(`There is no agent ${context.attempt}.`);
        return own.setup(context);
      },
    };
    return runTrials(
      {
        tasks: suiteNamed(suite)
          .read(data)
          // Long limits, so that a busy machine does not decide a verdict.
          .map((task) => withLimits(this.#withSmallImage(task), 10)),
        agent,
        attempts: agents.length,
        concurrency: 3,
        network: 'none',
        out: mkdtempSync(join(this.folder, 'run-')),
        signal: new AbortController().signal,
        ...(known && { known }),
      },
      { engine, images: this.images },
    );
  }

  /** Replaces the base image and those in FROM lines with the small one. */
  #withSmallImage(task: Task): Task {
    const { image } = task.environment;
    const source = (): ImageSource => {
      if (image.kind === 'toolchain' && image.name === 'base')
        return { kind: 'image', name: this.#small };
      if (image.kind !== 'build') return image;
      const files = image.files.map((entry) => ({
        ...entry,
        bytes: Buffer.from(entry.bytes.toString().replace(/^FROM .*$/m, `FROM ${this.#small}`)),
      }));
      return { kind: 'build', files };
    };
    return { ...task, environment: { ...task.environment, image: source() } };
  }
}

/** An agent whose answer is these files, without a container. */
export const answering = (files: Record<string, string>): Agent => ({
  name: 'answering',
  model: null,
  setup: (context) =>
    fixedArtifacts(() => ({
      ...noArtifacts,
      entries: ownedBy(
        under(
          workdirOf(context),
          Object.entries(files).map(([path, text]) => fileEntry(path, text)),
        ),
        Number(context.task.user ?? 0),
      ),
    })),
});
