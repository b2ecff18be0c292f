import type { Readable } from 'node:stream';
import Docker from 'dockerode';
import { z } from 'zod';
import type { OthersAlive } from '../container-host.js';
import { containerOutput } from './container-output.js';
import { labels, withVolumesInMemory } from './container-spec.js';
import { engineAgent, type EngineAgent } from './engine-agent.js';
import { readEvents, type EngineEvent } from './engine-events.js';
import { dockerError, isConflict, isGone, isMalformed } from './errors.js';
import type { Exit } from '../exit-reason.js';
import { ImagePulls } from './image-pulls.js';
import { imageName } from './image-registry.js';
import { otherNameIfTaken } from './other-name-if-taken.js';
import { endedOutOfMemory } from './out-of-memory.js';
import { VolumeMounts, type FolderInVolume } from './volume-mounts.js';

export interface FoundContainer {
  id: string;
  name: string;
  running: boolean;
  labels: Record<string, string>;
}

/** The name of a new image, and Dockerfile lines that set its configuration. */
export interface CommittedImage {
  repo: string;
  tag: string;
  changes: readonly string[];
}

export interface DockerClientOptions {
  /** Identifies the owner in the labels of everything that it creates. */
  instance: string;
  /** `unix:` and the engine’s socket; when omitted, the environment’s setting. */
  dockerHost: string | undefined;
  /** Images that the user of this machine named: they alone may come from a registry in a private network. */
  trusted?: readonly string[];
  /** Where this process has the sockets that it mounts into containers, if that is a volume. */
  sockets?: FolderInVolume | undefined;
}

/** The parts of the engine’s API that sandboxes need. Throws `AppError`. */
export class DockerClient {
  /** The label, with its value, of everything that this server created. */
  readonly ownLabel: string;
  /** The file of the engine’s socket. */
  readonly socket: string;
  readonly #docker: Docker;
  readonly #pulls: ImagePulls;
  readonly #sockets: VolumeMounts | undefined;
  #cpuCount: Promise<number> | undefined;

  constructor({ instance, dockerHost: host, trusted = [], sockets }: DockerClientOptions) {
    this.ownLabel = `${labels.instance}=${instance}`;
    this.socket = host ? host.slice('unix://'.length) : '/var/run/docker.sock';
    this.#docker = host ? new Docker({ socketPath: this.socket }) : new Docker();
    this.#pulls = new ImagePulls(this.#docker, trusted);
    this.#sockets = sockets && new VolumeMounts(this.#docker, sockets);
  }

  async ping(): Promise<void> {
    await this.#ask(this.#docker.ping());
  }

  /** The number of processors of the machine. */
  cpus(): Promise<number> {
    this.#cpuCount ??= this.#ask(this.#docker.info()).then(
      (info: { NCPU: number }) => info.NCPU,
      (error: unknown) => {
        this.#cpuCount = undefined;
        throw error;
      },
    );
    return this.#cpuCount;
  }

  async hasImage(image: string): Promise<boolean> {
    return this.#exists(this.#docker.getImage(image).inspect());
  }

  /** The id of an image; undefined when it does not exist, or the name is invalid. */
  async imageId(image: string): Promise<string | undefined> {
    if (!imageName.test(image)) return undefined;
    try {
      return (await this.#docker.getImage(image).inspect()).Id;
    } catch (error) {
      if (isGone(error) || isMalformed(error)) return undefined;
      throw dockerError(error);
    }
  }

  /** Pulls a missing image; whether this call did. */
  async fetchImage(image: string): Promise<boolean> {
    return !(await this.hasImage(image)) && this.#pulls.pull(image);
  }

  /** The images with this label. */
  async images(label: string): Promise<{ id: string; labels: Record<string, string> }[]> {
    const filters = JSON.stringify({ label: [label] });
    const found = await this.#ask(this.#docker.listImages({ filters }));
    return found.map(({ Id, Labels }) => ({ id: Id, labels: Labels ?? {} }));
  }

  /** Removes an image with all its names; does nothing if it does not exist. */
  async removeImage(image: string): Promise<void> {
    await this.#exists(this.#docker.getImage(image).remove({ force: true }));
  }

  /** Removes a name, and the image with its last one. False while a container needs it; fine when it is gone. */
  async untagImage(name: string): Promise<boolean> {
    try {
      await this.#docker.getImage(name).remove({ force: false });
      return true;
    } catch (error) {
      if (isGone(error)) return true;
      if (isConflict(error)) return false;
      throw dockerError(error);
    }
  }

  /** Makes an image of a container’s current state; returns its id. */
  async commit(container: string, { repo, tag, changes }: CommittedImage): Promise<string> {
    const options = { repo, tag, pause: true, changes: changes.join('\n') };
    const made: unknown = await this.#ask(this.#docker.getContainer(container).commit(options));
    return z.object({ Id: z.string() }).parse(made).Id;
  }

  /** Unpacks an archive in a container that may not have run yet. */
  async unpack(
    container: string,
    archive: Buffer | Readable,
    { path = '/', signal: abortSignal }: { path?: string; signal?: AbortSignal } = {},
  ): Promise<void> {
    const options = { path, ...(abortSignal && { abortSignal }) };
    await this.#ask(this.#docker.getContainer(container).putArchive(archive, options));
  }

  /** Whether this path exists in a container that may not have run yet. */
  async hasPath(container: string, path: string): Promise<boolean> {
    return this.#exists(this.#docker.getContainer(container).infoArchive({ path }));
  }

  /** Bytes that a container has written to its own layer; 0 if it does not exist. */
  async writtenBytes(container: string): Promise<number> {
    // The types lack this option.
    const options: object = { size: true };
    const found: unknown = await this.#found(this.#docker.getContainer(container).inspect(options));
    return z.object({ SizeRw: z.number() }).safeParse(found).data?.SizeRw ?? 0;
  }

  /** The value of an image's label; undefined when it has none, or does not exist. */
  async imageLabel(image: string, label: string): Promise<string | undefined> {
    return (await this.#found(this.#docker.getImage(image).inspect()))?.Config?.Labels?.[label];
  }

  /** The labels of a volume; undefined if it does not exist. */
  async volumeLabels(name: string): Promise<Record<string, string> | undefined> {
    const found = await this.#found(this.#docker.getVolume(name).inspect());
    return found && (found.Labels ?? {});
  }

  /** The image of a container; undefined if it does not exist. */
  async imageOf(container: string): Promise<string | undefined> {
    return (await this.#found(this.#docker.getContainer(container).inspect()))?.Image;
  }

  /** The container of an agent; undefined if it does not exist. */
  async agentOf(container: string): Promise<EngineAgent | undefined> {
    const found = await this.#found(this.#docker.getContainer(container).inspect());
    return found && engineAgent(found);
  }

  /** The id of its first process on this machine; undefined while it does not run. */
  async pidOf(container: string): Promise<number | undefined> {
    const found = await this.#found(this.#docker.getContainer(container).inspect());
    return found?.State.Pid || undefined;
  }

  /** Folders of this machine that our running containers can change, except for one container. */
  async writableFolders(except: string): Promise<string[]> {
    return (await this.#ask(this.#docker.listContainers({ filters: { label: [this.ownLabel] } })))
      .filter(({ Id }) => Id !== except)
      .flatMap(({ Mounts }) => Mounts)
      .filter(({ Type, RW }) => Type === 'bind' && RW)
      .map(({ Source }) => Source);
  }

  async removeVolume(name: string): Promise<void> {
    await this.#exists(this.#docker.getVolume(name).remove({ force: true }));
  }

  /** The names of the volumes with this label, except of those that these servers made. */
  async volumes(label: string, except?: OthersAlive): Promise<string[]> {
    const filters = JSON.stringify({ label: [label] });
    // The types expect an object, but the engine expects its JSON.
    const { Volumes } = await this.#ask(this.#docker.listVolumes({ filters: filters as never }));
    const others = await except?.();
    return (Volumes ?? [])
      .filter(({ Labels }) => !others?.has(Labels?.[labels.server] ?? ''))
      .map((volume) => volume.Name);
  }

  /**
   * Creates a container, pulling its image if it is missing; returns its id. If the name is taken, it gets a suffix.
   * `boundVolumes`: the volumes that its image declares are in memory, for `owner` or all users.
   */
  async create(
    spec: Docker.ContainerCreateOptions,
    { boundVolumes = false, owner }: { boundVolumes?: boolean; owner?: number } = {},
  ): Promise<string> {
    const create = async (): Promise<string> => {
      const mounted = await this.#withSockets(spec);
      return this.#createNamed(
        boundVolumes ? await this.#withBoundVolumes(mounted, owner) : mounted,
      );
    };
    try {
      return await create();
    } catch (error) {
      if (!isGone(error) || !spec.Image) throw dockerError(error);
    }
    // Something other than the image may be missing.
    await this.fetchImage(spec.Image);
    return this.#ask(create());
  }

  async #withBoundVolumes(
    spec: Docker.ContainerCreateOptions,
    owner: number | undefined,
  ): Promise<Docker.ContainerCreateOptions> {
    const { Config } = await this.#docker.getImage(spec.Image ?? '').inspect();
    return { ...spec, HostConfig: withVolumesInMemory(spec.HostConfig, Config.Volumes, owner) };
  }

  async #withSockets(spec: Docker.ContainerCreateOptions): Promise<Docker.ContainerCreateOptions> {
    const { Mounts } = spec.HostConfig ?? {};
    if (!this.#sockets || !Mounts) return spec;
    return { ...spec, HostConfig: { ...spec.HostConfig, Mounts: await this.#sockets.of(Mounts) } };
  }

  /** If the name is taken, it gets a suffix. */
  async rename(container: string, name: string): Promise<void> {
    const rename = (free: string) => this.#docker.getContainer(container).rename({ name: free });
    await this.#ask(otherNameIfTaken(name, rename));
  }

  async start(container: string): Promise<void> {
    await this.#ask(this.#docker.getContainer(container).start());
  }

  /** Kills and removes a container with its anonymous volumes; does nothing if it does not exist. */
  async remove(container: string): Promise<void> {
    await this.#exists(this.#docker.getContainer(container).remove({ force: true, v: true }));
  }

  /** The containers with all of these labels. */
  async list(...label: string[]): Promise<FoundContainer[]> {
    const filters = { label };
    const found = await this.#ask(this.#docker.listContainers({ all: true, filters }));
    return found.map(({ Id, Names, State, Labels }) => ({
      id: Id,
      name: Names[0]?.slice(1) ?? '',
      running: State === 'running' || State === 'paused',
      labels: Labels,
    }));
  }

  /** How the container ended; null while it runs, undefined if it does not exist. */
  async exit(container: string): Promise<Exit | null | undefined> {
    const found = await this.#found(this.#docker.getContainer(container).inspect());
    if (!found) return undefined;
    const { Running, ExitCode: code, Error: error } = found.State;
    if (Running) return null;
    const outOfMemory = await endedOutOfMemory(this.#docker, container, found.State);
    return { code, outOfMemory, error, memoryMb: (found.HostConfig.Memory ?? 0) / 2 ** 20 };
  }

  /** The last lines of the container’s output. */
  async lastLines(container: string, lines = 20): Promise<string> {
    const options = { stdout: true, stderr: true, follow: false as const, tail: lines };
    const raw = await this.#found(this.#docker.getContainer(container).logs(options));
    return raw ? (await containerOutput([raw])).trim() : '';
  }

  /**
   * Events of the containers with this label, from now on. Ends without an error when the engine stops; events before
   * the next subscription are not reported.
   */
  async events(label: string, signal: AbortSignal): Promise<AsyncIterable<EngineEvent>> {
    const filters = { type: ['container' as const], label: [label] };
    const stream = (await this.#ask(this.#docker.getEvents({ filters }))) as Readable;
    const end = (): void => void stream.destroy();
    // An error ends the stream like its end does: the caller subscribes again.
    stream.on('error', end);
    signal.addEventListener('abort', end, { once: true });
    stream.once('close', () => signal.removeEventListener('abort', end));
    if (signal.aborted) end();
    return readEvents(stream);
  }

  async #createNamed(spec: Docker.ContainerCreateOptions): Promise<string> {
    const create = (name?: string) => this.#docker.createContainer({ ...spec, name });
    const created = spec.name === undefined ? create() : otherNameIfTaken(spec.name, create);
    return (await created).id;
  }

  async #ask<T>(request: Promise<T>): Promise<T> {
    try {
      return await request;
    } catch (error) {
      throw dockerError(error);
    }
  }

  async #found<T>(request: Promise<T>): Promise<T | undefined> {
    try {
      return await request;
    } catch (error) {
      if (isGone(error)) return undefined;
      throw dockerError(error);
    }
  }

  async #exists(request: Promise<unknown>): Promise<boolean> {
    try {
      await request;
      return true;
    } catch (error) {
      if (isGone(error)) return false;
      throw dockerError(error);
    }
  }
}
