import { Readable } from 'node:stream';
import Docker from 'dockerode';
import { AppError } from '@belay/protocol';
import { tarOf, type Entry } from '../entries.js';
import { Box, type BoxSpec } from './box.js';

export interface ImageFacts {
  id: string;
  workdir: string;
  user: string;
}

/** Every container that evaluation makes carries it, with the run it belongs to. */
export const runLabel = 'belay.evaluation';

/** Linux capabilities of a root user who administers files and processes of its own box, and nothing else. */
const rootCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETGID', 'SETUID'];

/** The Docker engine, as far as evaluation needs it. */
export class Engine {
  readonly #docker = new Docker();
  readonly #leaving = new Set<Promise<void>>();

  /** What the engine has to share between trials. */
  async capacity(): Promise<{ cpus: number; memoryMb: number }> {
    const info = (await this.#docker.info()) as { NCPU: number; MemTotal: number };
    return { cpus: info.NCPU, memoryMb: Math.floor(info.MemTotal / 2 ** 20) };
  }

  async image(name: string): Promise<ImageFacts | undefined> {
    try {
      const { Id, Config } = await this.#docker.getImage(name).inspect();
      return { id: Id, workdir: Config.WorkingDir || '/', user: Config.User || 'root' };
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

  /** Builds with the classic builder, which every engine has. Throws with the end of what the build said. */
  async build(
    tag: string,
    files: Entry[],
    { signal, args = {} }: { signal: AbortSignal; args?: Record<string, string> },
  ): Promise<void> {
    const stream = await this.#docker.buildImage(Readable.from([await tarOf(files)]), {
      t: tag,
      rm: true,
      forcerm: true,
      buildargs: args,
      labels: { [runLabel]: 'image' },
      abortSignal: signal,
    });
    let said = '';
    let failure: string | undefined;
    for await (const line of linesOf(stream)) {
      const { stream: text, error } = JSON.parse(line) as { stream?: string; error?: string };
      said = (said + (text ?? '')).slice(-4_000);
      failure ??= error;
    }
    if (failure) throw new AppError('invalid_input', `${failure}\n${said.trim()}`.slice(0, 4_000));
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

async function* linesOf(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of stream) {
    rest += chunk.toString();
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line.trim());
  }
  if (rest.trim()) yield rest;
}
