import { EventEmitter, on } from 'node:events';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  labels,
  type CommittedImage,
  type ContainerCreateOptions,
  type DockerClient,
  type EngineAgent,
  type EngineEvent,
  type Exit,
  type FoundContainer,
  type OthersAlive,
} from '@belay/containers';
import { AppError } from '@belay/protocol';

export interface FakeContainer {
  id: string;
  name: string;
  spec: ContainerCreateOptions;
  state: 'created' | 'running' | 'exited';
  exit: Exit;
  /** Ends the processes in the container. */
  stop: () => void;
}

type Method = Exclude<keyof DockerClient, 'ownLabel' | 'socket'>;
const label = 'belay.instance=fake';
export const engineAway = () => new AppError('unavailable', 'Docker does not respond.');

/** The engine in memory, with the interface of `DockerClient`. */
export class FakeEngine implements Pick<DockerClient, keyof DockerClient> {
  readonly ownLabel = label;
  readonly socket = '/nowhere/docker.sock';
  readonly containers = new Map<string, FakeContainer>();
  readonly volumeNames = new Set<string>();
  /** The labels of volumes, by their names. */
  readonly volumeLabelsOf = new Map<string, Record<string, string>>();
  /** Ids of images that are not local, by name; creating a container pulls its image. */
  readonly registry = new Map<string, string>();
  readonly pulled = new Map<string, string>();
  /** The methods called so far, in order. */
  readonly calls: string[] = [];
  /** Runs when a container starts; returns the function that ends it. */
  onStart: (container: FakeContainer) => () => void = () => () => {};
  readonly #committed = new Map<string, string>();
  readonly #failures = new Map<Method, AppError[]>();
  readonly #held = new Map<Method, () => Promise<void>>();
  readonly #events = new EventEmitter();
  #away = false;
  #made = 0;

  /** Makes the next call of this method fail. */
  fail(method: Method, error: AppError = engineAway()): void {
    this.#failures.set(method, [...(this.#failures.get(method) ?? []), error]);
  }

  /** Makes the next call of this method wait until it is released. */
  hold(method: Method): { reached: Promise<void>; release(): void } {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.#held.set(method, async () => {
      this.#held.delete(method);
      reached.resolve();
      await released.promise;
    });
    return { reached: reached.promise, release: released.resolve };
  }

  /** Until `comeBack`, every call fails and event streams end; containers keep running. */
  leave(): void {
    this.#away = true;
    this.#events.emit('end');
  }

  comeBack(): void {
    this.#away = false;
  }

  /** The only container, apart from those that were created and never started. */
  only(): FakeContainer {
    const agents = [...this.containers.values()].filter(({ state }) => state !== 'created');
    if (agents.length !== 1 || !agents[0]) throw new Error(`${agents.length} containers`);
    return agents[0];
  }

  /** Makes the container exit on its own. */
  kill(container: FakeContainer, exit: Partial<Exit> = { code: 137 }): void {
    container.state = 'exited';
    container.exit = { ...container.exit, ...exit };
    container.stop();
    this.#emit('die', container);
  }

  async ping(): Promise<void> {
    await this.#call('ping');
  }

  async cpus(): Promise<number> {
    await this.#call('cpus');
    return 4;
  }

  async hasImage(): Promise<boolean> {
    await this.#call('hasImage');
    return true;
  }

  async imageId(name: string): Promise<string | undefined> {
    await this.#call('imageId');
    if (this.registry.has(name)) return this.pulled.get(name);
    return name.startsWith('belay-action-') ? this.#committed.get(name) : 'sha256:image';
  }

  async fetchImage(image: string): Promise<boolean> {
    await this.#call('fetchImage');
    const elsewhere = this.registry.get(image);
    if (elsewhere === undefined || this.pulled.has(image)) return false;
    this.pulled.set(image, elsewhere);
    return true;
  }

  async images(): Promise<{ id: string; labels: Record<string, string> }[]> {
    await this.#call('images');
    return [];
  }

  async removeImage(): Promise<void> {
    await this.#call('removeImage');
  }

  async untagImage(name: string): Promise<boolean> {
    await this.#call('untagImage');
    const isUsed = [...this.containers.values()].some(({ spec }) => spec.Image === name);
    if (!isUsed) this.pulled.delete(name);
    return !isUsed;
  }

  async commit(_container: string, { repo, tag }: CommittedImage): Promise<string> {
    await this.#call('commit');
    const id = `sha256:made-${this.#committed.size}`;
    this.#committed.set(`${repo}:${tag}`, id);
    return id;
  }

  /** Archives that were unpacked in containers, by a container’s first writable volume. */
  readonly unpacked = new Map<string, Buffer>();

  async unpack(container: string, archive: Buffer | Readable): Promise<void> {
    await this.#call('unpack');
    const bytes = Buffer.isBuffer(archive) ? archive : await buffer(archive);
    const mounts = this.#get(container).spec.HostConfig?.Mounts ?? [];
    const volume = mounts.find(({ Type, ReadOnly }) => Type === 'volume' && !ReadOnly);
    if (volume) this.unpacked.set(volume.Source, bytes);
  }

  /** The paths of every image. */
  paths: readonly string[] = ['/lib64/ld-linux-x86-64.so.2'];

  async hasPath(_container: string, path: string): Promise<boolean> {
    await this.#call('hasPath');
    return this.paths.includes(path);
  }

  async writtenBytes(): Promise<number> {
    await this.#call('writtenBytes');
    return 0;
  }

  /** The labels of all images; others are empty. */
  imageLabels: Readonly<Record<string, string>> = {};

  async imageLabel(_image: string, label: string): Promise<string> {
    await this.#call('imageLabel');
    return this.imageLabels[label] ?? '';
  }

  async volumeLabels(name: string): Promise<Record<string, string> | undefined> {
    await this.#call('volumeLabels');
    const isOfSandbox = /-(workspace|state)$/.test(name);
    return isOfSandbox && !this.volumeNames.has(name) ? undefined : {};
  }

  async imageOf(): Promise<string> {
    await this.#call('imageOf');
    return 'runtime';
  }

  async agentOf(container: string): Promise<EngineAgent | undefined> {
    await this.#call('agentOf');
    const { name, spec } = this.containers.get(container) ?? {};
    const mount = spec?.HostConfig?.Mounts?.find(({ Target }) => Target === '/workspace');
    return name === undefined
      ? undefined
      : { name, user: '1000:1000', workspace: mount?.Source ?? '' };
  }

  async pidOf(): Promise<number | undefined> {
    await this.#call('pidOf');
    return undefined;
  }

  async writableFolders(except: string): Promise<string[]> {
    await this.#call('writableFolders');
    const others = [...this.containers.values()].filter(({ id }) => id !== except);
    const mounts = others.flatMap(({ spec }) => spec.HostConfig?.Mounts ?? []);
    return mounts
      .filter(({ Type, ReadOnly }) => Type === 'bind' && !ReadOnly)
      .map((one) => one.Source);
  }

  async removeVolume(name: string): Promise<void> {
    await this.#call('removeVolume');
    this.volumeNames.delete(name);
  }

  async volumes(_label?: string, except?: OthersAlive): Promise<string[]> {
    await this.#call('volumes');
    const others = await except?.();
    const serverOf = (name: string) => this.volumeLabelsOf.get(name)?.[labels.server] ?? '';
    return [...this.volumeNames].filter((name) => !others?.has(serverOf(name)));
  }

  async create(spec: ContainerCreateOptions): Promise<string> {
    await this.#call('create');
    const id = `container-${++this.#made}`;
    const exit = { code: 0, outOfMemory: false, error: '', memoryMb: 2048 };
    const made = {
      id,
      name: spec.name ?? id,
      spec,
      state: 'created' as const,
      exit,
      stop: () => {},
    };
    this.containers.set(id, made);
    for (const { Type, Source, ReadOnly, VolumeOptions } of spec.HostConfig?.Mounts ?? []) {
      if (Type !== 'volume' || ReadOnly || this.volumeNames.has(Source)) continue;
      this.volumeNames.add(Source);
      this.volumeLabelsOf.set(Source, VolumeOptions?.Labels ?? {});
    }
    return id;
  }

  async rename(container: string, name: string): Promise<void> {
    await this.#call('rename');
    this.#get(container).name = name;
  }

  async start(id: string): Promise<void> {
    await this.#call('start');
    const container = this.#get(id);
    container.state = 'running';
    container.stop = this.onStart(container);
  }

  async remove(id: string): Promise<void> {
    await this.#call('remove');
    const container = this.containers.get(id);
    if (!container) return;
    this.containers.delete(id);
    if (container.state !== 'running') return;
    container.stop();
    this.#emit('die', container);
    this.#emit('destroy', container);
  }

  async list(wanted: string): Promise<FoundContainer[]> {
    await this.#call('list');
    const all = [...this.containers.values()].map(({ id, name, state, spec }) => ({
      id,
      name,
      running: state === 'running',
      labels: spec.Labels ?? {},
    }));
    const [name = '', value] = wanted.split('=');
    return wanted === label ? all : all.filter(({ labels }) => labels[name] === value);
  }

  async exit(id: string): Promise<Exit | null | undefined> {
    await this.#call('exit');
    const container = this.containers.get(id);
    return container && (container.state === 'exited' ? container.exit : null);
  }

  async lastLines(): Promise<string> {
    await this.#call('lastLines');
    return 'the last line';
  }

  async events(_label: string, signal: AbortSignal): Promise<AsyncIterable<EngineEvent>> {
    await this.#call('events');
    return this.#follow(signal);
  }

  async *#follow(signal: AbortSignal): AsyncIterable<EngineEvent> {
    try {
      for await (const [event] of on(this.#events, 'event', { signal, close: ['end'] })) {
        yield event as EngineEvent;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #emit(action: string, { id, spec }: FakeContainer): void {
    if (this.#away) return;
    this.#events.emit('event', { action, container: id, labels: spec.Labels ?? {} });
  }

  #get(id: string): FakeContainer {
    const container = this.containers.get(id);
    if (!container) throw new AppError('not_found', `There is no container ${id}.`);
    return container;
  }

  async #call(method: Method): Promise<void> {
    await Promise.resolve();
    this.calls.push(method);
    await this.#held.get(method)?.();
    if (this.#away) throw engineAway();
    const failure = this.#failures.get(method)?.shift();
    if (failure) throw failure;
  }
}
