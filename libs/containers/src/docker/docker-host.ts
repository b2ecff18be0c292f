import { join } from 'node:path';
import { refuse } from '@belay/rpc';
import { AppError, visibleText, type Check } from '@belay/protocol';
import type { MountSettings } from 'dockerode';
import {
  ContainerHost,
  type ContainerSpec,
  type DialIn,
  type Labels,
  type Limits,
  type Look,
  type ProgramSpec,
  type Seen,
} from '../container-host.js';
import { ContainerStarts } from '../container-starts.js';
import { assertMounted } from './assert-mounted.js';
import { Browsers, type BrowserImage } from './browsers.js';
import {
  agentContainer,
  containerName,
  hostFolder,
  labelOf,
  hosts,
  labels,
  volume,
} from './container-spec.js';
import { ContainerSockets } from './container-sockets.js';
import type { DockerClient, FoundContainer } from './docker.client.js';
import { DockerImages } from './docker-images.js';
import { engineChecks } from './engine-checks.js';
import { exitReason } from '../exit-reason.js';
import { KeptVolumes } from './kept-volumes.js';
import { ProgramContainers } from './program-containers.js';
import { StoredVolumes, volumesOf, type StoredVolumesOptions } from './stored-volumes.js';

export interface DockerHostOptions extends StoredVolumesOptions {
  /** The folder of this user’s sockets, and the name of those of this owner in it. */
  sockets: { folder: string; name: string };
  /** Null for none. */
  browser: BrowserImage | null;
  /** The user’s name of the memory setting. */
  memorySetting: string;
}

/**
 * Containers of the Docker Engine on this machine. Each has a Unix socket for its dials, and its files in two volumes;
 * a browser is another container on its loopback. A container is found by a label with its id.
 */
export class DockerHost extends ContainerHost {
  readonly name = 'Docker';
  readonly can = { folders: true, local: true, images: true };
  readonly images: DockerImages;
  readonly closedPaths: readonly string[];
  readonly keptFiles: KeptVolumes;
  readonly #volumes: StoredVolumes;
  readonly #browsers: Browsers | null;
  readonly #sockets: ContainerSockets;
  readonly #programs: ProgramContainers;
  readonly #starts = new ContainerStarts();
  /** The engine’s ids of containers that were created or seen; undefined until one is created. */
  readonly #containers = new Map<string, string | undefined>();
  #onDial: (id: string, dial: DialIn) => void = (_, { socket }) =>
    refuse(socket, new AppError('unavailable', 'Nobody listens yet.'));

  constructor(
    private readonly docker: DockerClient,
    private readonly options: DockerHostOptions,
  ) {
    super();
    const { sockets, browser, labels: own } = options;
    this.closedPaths = [docker.socket];
    this.#volumes = new StoredVolumes(docker, options);
    this.keptFiles = new KeptVolumes(docker, {
      ...options,
      runtimeImage: () => this.#volumes.runtimeImage(),
    });
    this.#browsers = browser && new Browsers(docker, { ...browser, labels: own });
    this.#sockets = new ContainerSockets(sockets.folder, sockets.name, (id, dial) =>
      this.#onDial(id, dial),
    );
    this.#programs = new ProgramContainers(docker, options);
    this.images = new DockerImages(docker, {
      labels: own,
      containerOf: async (id) => {
        const container = await this.#containerOf(id);
        if (container !== undefined) return container;
        throw new AppError('not_found', 'The container is not there any more.');
      },
    });
  }

  checks(): Promise<Check[]> {
    return engineChecks(this.docker, {
      ...this.options,
      runtimeImage: () => this.#volumes.runtimeImage(),
    });
  }

  start(spec: ContainerSpec, signal: AbortSignal): Promise<void> {
    return this.#starts.once(spec.id, () => this.#start(spec, signal));
  }

  startProgram(spec: ProgramSpec, signal: AbortSignal): Promise<void> {
    return this.#starts.once(spec.id, () => this.#startProgram(spec, signal));
  }

  onDial(listener: (id: string, dial: DialIn) => void): void {
    this.#onDial = listener;
  }

  adopt(id: string): Promise<void> {
    return this.#sockets.open(id);
  }

  async *watch(signal: AbortSignal): AsyncIterable<Seen | 'synced'> {
    const left = new AbortController();
    try {
      // The subscription starts before the list, so no change is missed in between.
      const events = await this.docker.events(
        this.docker.ownLabel,
        AbortSignal.any([signal, left.signal]),
      );
      const found = await this.docker.list(this.docker.ownLabel);
      const containers = found.filter((one) => labels.sandbox in one.labels);
      await this.#removeRemains(found, containers);
      for (const one of containers) yield this.#seen(one);
      yield 'synced';
      for await (const { action, labels: of } of events) {
        const id = of[labels.sandbox];
        if (id === undefined) continue;
        if (action === 'die') yield { id, state: 'ended' };
        if (action === 'destroy') yield { id, state: 'gone' };
      }
    } finally {
      left.abort();
    }
  }

  async look(id: string): Promise<Look> {
    const container = await this.#containerOf(id);
    const exit = container === undefined ? undefined : await this.docker.exit(container);
    if (exit === null) return { state: 'running', why: null, cause: null };
    const state = exit ? 'ended' : 'gone';
    const exceededMb = this.#programs.exceededMb(id);
    if (exceededMb !== null)
      return { state, why: `It wrote more than ${exceededMb} MiB.`, cause: 'written' };
    const isSandbox = !this.#programs.has(id);
    const lastLine = isSandbox && exit && container ? await this.#lastLine(container) : '';
    const setting = this.options.memorySetting;
    const why = exitReason(exit, isSandbox ? { lastLine, setting } : null);
    return { state, why, cause: exit?.outOfMemory ? 'memory' : null };
  }

  async rename(id: string, label: string): Promise<void> {
    const container = await this.#containerOf(id);
    if (container !== undefined) await this.docker.rename(container, containerName(label));
  }

  async browser(id: string): Promise<string> {
    const container = await this.#containerOf(id);
    if (!this.#browsers || container === undefined)
      throw new AppError('unavailable', 'There is no browser beside this sandbox.');
    return this.#browsers.start(id, container);
  }

  async hasBrowser(id: string): Promise<boolean> {
    return this.#browsers?.has(id) ?? false;
  }

  async remove(id: string): Promise<void> {
    await this.#starts.settled(id);
    const container = await this.#containerOf(id);
    await this.#browsers?.forget(id);
    if (container !== undefined || this.#programs.hasServices(id))
      for (const beside of await this.docker.list(`${labels.sidecar}=${id}`, this.docker.ownLabel))
        await this.docker.remove(beside.id);
    if (container !== undefined) await this.docker.remove(container);
    this.#programs.forget(id);
    this.#containers.delete(id);
    this.#starts.forget(id);
    await this.#sockets.remove(id);
  }

  hasFiles(files: string): Promise<boolean> {
    return this.#volumes.has(files);
  }

  storedFiles(): Promise<string[]> {
    return this.#volumes.list();
  }

  removeFiles(files: string): Promise<void> {
    return this.#volumes.remove(files);
  }

  close(): Promise<void> {
    return this.#sockets.close();
  }

  async #startProgram(spec: ProgramSpec, signal: AbortSignal): Promise<void> {
    const { id, workspace, folders, services } = spec;
    signal.throwIfAborted();
    // The engine would make an empty one.
    if (workspace && !(await this.hasFiles(workspace.files)))
      throw new AppError('not_found', 'The workspace is not there any more.');
    this.#containers.set(id, undefined);
    await this.#sockets.open(id);
    const names = services.map(({ name }) => name);
    await this.#sockets.place(id, hosts.file, hosts.content(names));
    const container = await this.#programs.create(spec, this.#sockets.folder(id), signal);
    this.#containers.set(id, container);
    signal.throwIfAborted();
    await this.docker.start(container);
    await assertMounted(this.docker, container, folders);
  }

  async #start(spec: ContainerSpec, signal: AbortSignal): Promise<void> {
    const { id, files, folders, keptFiles } = spec;
    signal.throwIfAborted();
    // What an earlier try has made.
    const left = this.#containers.get(id);
    if (left !== undefined) await this.docker.remove(left);
    this.#containers.set(id, undefined);
    try {
      for (const { name, readOnly } of keptFiles)
        if (!readOnly) await this.keptFiles.makeHome(name);
      const [listening, prepared] = await Promise.allSettled([
        this.#openSocket(spec),
        this.#volumes.prepare(spec),
      ]);
      if (listening.status === 'rejected') throw listening.reason;
      if (prepared.status === 'rejected') throw prepared.reason;
      signal.throwIfAborted();
      const container = await this.docker.create(await this.#specOf(spec, prepared.value));
      this.#containers.set(id, container);
      signal.throwIfAborted();
      await this.docker.start(container);
      await assertMounted(this.docker, container, folders);
    } finally {
      // Only now, because removing the container earlier would make the agent wait for the engine.
      this.#volumes.releaseOwner(files);
    }
  }

  async #openSocket({ id, image, placedFiles }: ContainerSpec): Promise<void> {
    await this.#sockets.open(id);
    // Its own images have no names for others.
    const isDefault = image === this.options.image;
    const names = isDefault ? undefined : await this.docker.imageLabel(image, labels.hosts);
    const valid = names?.split(' ').filter((name) => /^[\w.-]{1,253}$/.test(name));
    await this.#sockets.place(id, hosts.file, hosts.content(valid));
    for (const [index, { text }] of placedFiles.entries())
      await this.#sockets.place(id, placedFile(index), text);
  }

  async #specOf(spec: ContainerSpec, seeded: boolean) {
    const { id, label, image, rights, env, files, limits } = spec;
    const socketFolder = this.#sockets.folder(id);
    return agentContainer({
      name: containerName(label),
      image,
      profile: rights,
      volumes: volumesOf(files),
      seeded,
      runtime: this.options.runtime,
      socketFolder,
      shared: mountsOf(spec, socketFolder),
      limits: await this.#limitsOf(limits),
      tools: env,
      labels: { ...spec.labels, ...this.options.labels, [labels.sandbox]: id },
    });
  }

  async #limitsOf({ memoryMb, cpus }: Limits): Promise<Limits> {
    return { memoryMb, cpus: Math.min(cpus, await this.docker.cpus()) };
  }

  #seen({ id: container, name, running, labels: of }: FoundContainer): Seen {
    const id = of[labels.sandbox] ?? '';
    if (this.#starts.isRunning(id)) return { id, state: 'waiting' };
    this.#containers.set(id, container);
    const seen = { id, server: of[labels.server] };
    if (!running) return { ...seen, state: 'ended' };
    this.#starts.add(id);
    return { ...seen, state: 'running', label: labelOf(name) };
  }

  /**
   * Removes services and browsers that nobody uses any more, and what set the owner of volumes. Those of other servers may
   * be of a start that is under way.
   */
  async #removeRemains(
    all: readonly FoundContainer[],
    containers: readonly FoundContainer[],
  ): Promise<void> {
    const ids = new Set(containers.map((one) => one.labels[labels.sandbox]));
    // Asked after they were listed: a server is known before it makes anything.
    const others = await this.options.others?.();
    const isUsed = (of: Labels): boolean => {
      const { [labels.sidecar]: beside, [labels.server]: server } = of;
      if (server !== undefined && others?.has(server)) return true;
      if (beside !== undefined) return ids.has(beside) || this.#starts.isRunning(beside);
      return this.#starts.running + this.images.helpers > 0;
    };
    for (const one of all)
      if (!containers.includes(one) && !isUsed(one.labels)) await this.docker.remove(one.id);
  }

  async #lastLine(container: string): Promise<string> {
    const printed = await this.docker.lastLines(container, 3);
    return visibleText(printed.split('\n').at(-1)?.trim().slice(0, 300) ?? '');
  }

  async #containerOf(id: string): Promise<string | undefined> {
    if (this.#containers.has(id)) return this.#containers.get(id);
    // Others of the same engine may use the same id.
    const [found] = await this.docker.list(`${labels.sandbox}=${id}`, this.docker.ownLabel);
    return found?.id;
  }
}

/** The file’s name in a container’s own folder, which its programs can read. */
const placedFile = (index: number): string => `placed-${index}`;

function mountsOf(
  { folders, keptFiles, placedFiles }: ContainerSpec,
  socketFolder: string,
): MountSettings[] {
  return [
    ...folders.map((one) => hostFolder({ ...one, real: one.folder })),
    ...keptFiles.map(({ name, path, readOnly }) =>
      volume({ Source: name, Target: path, ReadOnly: readOnly }),
    ),
    ...placedFiles.map(({ path }, index): MountSettings => ({
      Type: 'bind',
      Source: join(socketFolder, placedFile(index)),
      Target: path,
      ReadOnly: true,
    })),
  ];
}
