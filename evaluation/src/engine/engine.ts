import { Readable } from 'node:stream';
import Docker from 'dockerode';
import { AppError } from '@belay/protocol';
import { tarOf, type Entry } from '../entries.js';
import { Box, type BoxSpec } from './box.js';
import { needsBuildKit } from './dockerfile.js';

/** Reads BuildKit's progress as well as the classic builder's; dockerode 5 has it, its types do not. */
interface BuildProgress {
  followProgress(
    stream: NodeJS.ReadableStream,
    ended: (error: Error | null) => void,
    said: (line: { stream?: string; error?: string }) => void,
  ): void;
}

export interface ImageFacts {
  id: string;
  workdir: string;
  user: string;
  entrypoint: string[];
}

/** Every container that evaluation makes carries it, with the run it belongs to. */
export const runLabel = 'belay.evaluation';

/** Linux capabilities of a root user who administers files and processes of its own box, and nothing else. */
const rootCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETGID', 'SETUID'];

/** The Docker engine, as far as evaluation needs it. */
export class Engine {
  readonly #docker = new Docker() as Docker & BuildProgress;
  readonly #leaving = new Set<Promise<void>>();

  /** What the engine has to share between trials. */
  async capacity(): Promise<{ cpus: number; memoryMb: number }> {
    const info = (await this.#docker.info()) as { NCPU: number; MemTotal: number };
    return { cpus: info.NCPU, memoryMb: Math.floor(info.MemTotal / 2 ** 20) };
  }

  async image(name: string): Promise<ImageFacts | undefined> {
    try {
      const { Id, Config } = await this.#docker.getImage(name).inspect();
      const { WorkingDir: workdir, User: user, Entrypoint: entrypoint } = Config;
      return {
        id: Id,
        workdir: workdir || '/',
        user: user || 'root',
        entrypoint: [entrypoint ?? []].flat(),
      };
    } catch (error) {
      if ((error as { statusCode?: number }).statusCode === 404) return undefined;
      throw error;
    }
  }

  /** The newest image of a repository, such as the sandbox image that the platform has built. */
  async newest(repository: string): Promise<string | undefined> {
    const filters = JSON.stringify({ reference: [repository] });
    const images = await this.#docker.listImages({ filters });
    return images.toSorted((a, b) => b.Created - a.Created)[0]?.RepoTags?.[0];
  }

  /**
   * Builds with the classic builder, which every engine has, and with BuildKit what only that can build. Throws with
   * the end of what the build said.
   */
  async build(
    tag: string,
    files: Entry[],
    { signal, args = {} }: { signal: AbortSignal; args?: Record<string, string> },
  ): Promise<void> {
    const dockerfile = files.find(({ path }) => path === 'Dockerfile')?.bytes.toString() ?? '';
    const special = needsBuildKit(dockerfile);
    const stream = await this.#docker
      .buildImage(Readable.from([await tarOf(files)]), {
        t: tag,
        rm: true,
        forcerm: true,
        buildargs: args,
        labels: { [runLabel]: 'image' },
        abortSignal: signal,
        ...(special && { version: '2' }),
      })
      .catch((error: { statusCode?: number; message: string }) => {
        if (!special || error.statusCode === 500) throw error;
        throw new AppError(
          'invalid_input',
          `The Dockerfile has ${special}, which needs BuildKit, and this engine has none: ${error.message}`,
        );
      });
    const { said, failure } = await this.#told(stream);
    if (!failure) return;
    const hint =
      special && /parse error|unknown flag/.test(failure)
        ? `The BuildKit of this engine cannot read ${special}; Docker Engine 23 and later can. `
        : '';
    throw new AppError('invalid_input', `${hint}${failure}\n${said}`.slice(0, 4_000));
  }

  /** What a build said, the end of it, and why it failed. */
  #told(stream: NodeJS.ReadableStream): Promise<{ said: string; failure?: string }> {
    let said = '';
    let failure: string | undefined;
    return new Promise((done, broken) => {
      this.#docker.followProgress(
        stream,
        (error) => (error ? broken(error) : done({ said: said.trim(), failure })),
        ({ stream: text, error }) => {
          said = (said + (text ?? '')).slice(-4_000);
          failure ??= error;
        },
      );
    });
  }

  /** A hardened container that is not started yet, with its files in it. */
  async create(spec: BoxSpec): Promise<Box> {
    const bytes = spec.memoryMb * 2 ** 20;
    const container = await this.#docker.createContainer({
      Image: spec.image,
      Entrypoint: [],
      Cmd: spec.command,
      ...(spec.user && { User: spec.user }),
      ...(spec.workdir && { WorkingDir: spec.workdir }),
      Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
      Labels: { [runLabel]: spec.run },
      StopTimeout: 1,
      HostConfig: {
        NetworkMode: spec.network,
        CapDrop: ['ALL'],
        CapAdd: rootCapabilities,
        SecurityOpt: ['no-new-privileges'],
        Init: true,
        Memory: bytes,
        MemorySwap: bytes,
        NanoCpus: Math.round(spec.cpus * 1e9),
        PidsLimit: 512,
        LogConfig: {
          Type: 'local',
          Config: { 'max-size': '4m', 'max-file': '1', compress: 'false' },
        },
      },
    });
    const box = new Box(container);
    try {
      await box.put(spec.files);
    } catch (error) {
      await box.remove();
      throw error;
    }
    return box;
  }

  /** Removes a container that has ended, while the next one starts. What the engine refuses now, sweep() removes. */
  discard(box: Box): void {
    const leaving = box
      .remove()
      .catch(() => undefined)
      .finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }

  /** The state of an ended container as an image, without a name; `forget` removes it. */
  async snapshot(box: Box): Promise<string> {
    return box.commit();
  }

  async forget(image: string): Promise<void> {
    await this.#docker.getImage(image).remove({ force: true }).catch(ignoreMissing);
  }

  /** Removes what a killed run has left behind. */
  async sweep(run: string): Promise<number> {
    await Promise.all(this.#leaving);
    const filters = JSON.stringify({ label: [`${runLabel}=${run}`] });
    const left = await this.#docker.listContainers({ all: true, filters });
    for (const { Id } of left) await new Box(this.#docker.getContainer(Id)).remove();
    return left.length;
  }
}

function ignoreMissing(error: { statusCode?: number }): void {
  if (error.statusCode !== 404 && error.statusCode !== 409) throw error;
}
