import { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { AppError, ignoreError } from '@belay/protocol';
import Docker from 'dockerode';
import {
  TaskEngine,
  type BuildContext,
  type BuildOptions,
  type FoundImage,
  type ServiceHealthcheck,
  type TaskCapacity,
  type TaskContainer,
  type TaskSpec,
} from '../task-host.js';
import { containerName } from './container-spec.js';
import { DockerTask } from './docker-task.js';
import { needsBuildKit } from './dockerfile.js';
import { isConflict, isGone, isNotFound } from './errors.js';
import { imageNamed } from './image-named.js';
import { startReaper, type EngineAddress } from './reaper.js';

/**
 * Reads the progress of BuildKit and of the classic builder. dockerode 5 implements it, but its
 * types do not declare it.
 */
interface BuildProgress {
  followProgress(
    stream: NodeJS.ReadableStream,
    onEnd: (error: Error | null) => void,
    onLine: (line: { stream?: string; error?: string }) => void,
  ): void;
}

/** The label of every container of an evaluation; its value is the run's id. */
const runLabel = 'belay.evaluation';

/** Linux capabilities of root, limited to the files and processes of its own container. */
const rootCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETGID', 'SETUID'];

/** Tasks in containers of a Docker Engine. */
export class DockerTasks extends TaskEngine {
  readonly #docker: Docker & BuildProgress;
  readonly #removals = new Set<Promise<void>>();

  /** `unix://` and the engine’s socket; when omitted, the environment’s setting. */
  constructor(dockerHost?: string) {
    super();
    const docker = dockerHost
      ? new Docker({ socketPath: dockerHost.slice('unix://'.length) })
      : new Docker();
    this.#docker = docker as Docker & BuildProgress;
  }

  async capacity(): Promise<TaskCapacity> {
    const info = (await this.#docker.info()) as { NCPU: number; MemTotal: number };
    return { cpus: info.NCPU, memoryMb: Math.floor(info.MemTotal / 2 ** 20), lacks: [] };
  }

  async version(): Promise<string> {
    const { Version, ApiVersion } = await this.#docker.version();
    return `Docker ${Version} (API ${ApiVersion})`;
  }

  async image(name: string): Promise<FoundImage | undefined> {
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
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async newest(repository: string): Promise<string | undefined> {
    const filters = JSON.stringify({ reference: [repository] });
    const images = await this.#docker.listImages({ filters });
    return images.toSorted((a, b) => b.Created - a.Created)[0]?.RepoTags?.[0];
  }

  /**
   * Builds with the classic builder, which every engine has, and with BuildKit only if it is
   * required.
   */
  async build(
    tag: string,
    { archive, dockerfile }: BuildContext,
    { signal, args = {}, target, offline = false }: BuildOptions,
  ): Promise<void> {
    const special = needsBuildKit(dockerfile);
    const stream = await this.#docker
      .buildImage(Readable.from([archive]), {
        t: tag,
        rm: true,
        forcerm: true,
        buildargs: args,
        ...(target !== undefined && { target }),
        labels: { [runLabel]: 'image' },
        abortSignal: signal,
        ...(offline && { networkmode: 'none' }),
        ...(special && { version: '2' }),
      })
      .catch((error: { statusCode?: number; message: string }) => {
        if (!special || error.statusCode === 500) throw error;
        throw new AppError(
          'invalid_input',
          `The Dockerfile has ${special}, which needs BuildKit, but this engine does not have it: ${error.message}`,
        );
      });
    const { log, failure } = await this.#buildLog(stream);
    if (!failure) return;
    const hint =
      special && /parse error|unknown flag/.test(failure)
        ? `The BuildKit of this engine cannot read ${special}; Docker Engine 23 and later can. `
        : '';
    throw new AppError('invalid_input', `${hint}${failure.slice(0, 1_000)}\n${log.slice(-3_000)}`);
  }

  /** The end of a build's log, and the error of a failed build. */
  #buildLog(stream: NodeJS.ReadableStream): Promise<{ log: string; failure?: string }> {
    let log = '';
    let failure: string | undefined;
    return new Promise((done, broken) => {
      this.#docker.followProgress(
        stream,
        (error) =>
          error ? broken(error) : done({ log: stripVTControlCharacters(log).trim(), failure }),
        ({ stream: text, error }) => {
          log = (log + (text ?? '')).slice(-4_000);
          failure ??= error;
        },
      );
    });
  }

  /** All images are its own. */
  async provide(): Promise<void> {}

  async save(image: string): Promise<Readable> {
    return (await this.#docker.getImage(image).get()) as Readable;
  }

  async load(tag: string, archive: Readable): Promise<void> {
    const { image, done } = imageNamed(tag, archive);
    // An archive that breaks off does not end the request by itself.
    const broken = new AbortController();
    done.catch((error: unknown) => broken.abort(error));
    const options = { quiet: true, abortSignal: broken.signal };
    const [loaded] = await Promise.all([this.#docker.loadImage(image, options), done]);
    const { failure } = await this.#buildLog(loaded);
    if (failure) throw new AppError('invalid_input', `The image cannot be loaded: ${failure}`);
  }

  async create(spec: TaskSpec): Promise<DockerTask> {
    const bytes = spec.memoryMb * 2 ** 20;
    const created = await this.#docker.createContainer({
      Image: spec.image,
      ...(spec.entrypoint !== null && { Entrypoint: spec.entrypoint ?? [] }),
      ...(spec.command && { Cmd: spec.command }),
      ...(spec.healthcheck && { Healthcheck: engineHealthcheck(spec.healthcheck) }),
      ...(spec.user && { User: spec.user }),
      ...(spec.workdir && { WorkingDir: spec.workdir }),
      Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
      Labels: { [runLabel]: spec.run },
      StopTimeout: 1,
      HostConfig: {
        NetworkMode: spec.network,
        ...(!spec.network.startsWith('container:') && {
          ExtraHosts: spec.hosts?.map((name) => `${name}:127.0.0.1`),
        }),
        CapDrop: ['ALL'],
        CapAdd: rootCapabilities,
        SecurityOpt: ['no-new-privileges'],
        Init: true,
        Memory: bytes,
        MemorySwap: bytes,
        NanoCpus: Math.round(spec.cpus * 1e9),
        // One Java exercise starts 1000 threads at once.
        PidsLimit: 2048,
        // Two files, because a full one is replaced: the newest 32 MB are always kept.
        LogConfig: {
          Type: 'local',
          Config: { 'max-size': '32m', 'max-file': '2', compress: 'false' },
        },
      },
    });
    const container = new DockerTask(created);
    try {
      await container.put(spec.archive);
    } catch (error) {
      await container.remove();
      throw error;
    }
    return container;
  }

  guard(run: string): () => void {
    return startReaper(`${runLabel}=${run}`, this.#docker.modem as EngineAddress);
  }

  async containerOfSession(session: string): Promise<string | undefined> {
    const name = containerName(session);
    const filters = JSON.stringify({ name: [`^/${name}$`] });
    const [found] = await this.#docker.listContainers({ filters });
    return found?.Id;
  }

  discard(container: TaskContainer): void {
    const removal = container
      .remove()
      .catch(ignoreError('sweep removes it'))
      .finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  async snapshot(container: TaskContainer): Promise<string> {
    return this.#known(container).commit();
  }

  async forget(image: string): Promise<void> {
    await this.#docker.getImage(image).remove({ force: true }).catch(ignoreGone);
  }

  async sweep(run: string): Promise<number> {
    await Promise.all(this.#removals);
    const filters = JSON.stringify({ label: [`${runLabel}=${run}`] });
    const left = await this.#docker.listContainers({ all: true, filters });
    for (const { Id } of left) await new DockerTask(this.#docker.getContainer(Id)).remove();
    return left.length;
  }

  #known({ id }: TaskContainer): DockerTask {
    return new DockerTask(this.#docker.getContainer(id));
  }
}

/** Docker counts in nanoseconds. */
const engineHealthcheck = ({
  test,
  interval,
  timeout,
  startPeriod,
  retries,
}: ServiceHealthcheck) => ({
  Test: test,
  Interval: Math.round(interval * 1e9),
  Timeout: Math.round(timeout * 1e9),
  StartPeriod: Math.round(startPeriod * 1e9),
  Retries: retries,
});

/** An image that is gone needs no removal, and one that a running container uses stays. */
function ignoreGone(error: unknown): void {
  if (!isGone(error) && !isConflict(error)) throw error;
}
