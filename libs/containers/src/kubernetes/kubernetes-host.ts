import { AppError, ignoreError, visibleText, type Check } from '@belay/protocol';
import { refuse } from '@belay/rpc';
import type { V1Pod } from '@kubernetes/client-node';
import {
  ContainerHost,
  type Can,
  type ContainerSpec,
  type DialIn,
  type KeptFiles,
  type Labels,
  type Limits,
  type Look,
  type OthersAlive,
  type ProgramSpec,
  type Seen,
} from '../container-host.js';
import { ContainerStarts } from '../container-starts.js';
import { assertOpenRegistries } from '../docker/image-registry.js';
import type { ProgramTasks } from '../program-tasks.js';
import type { TaskRunner } from '../runs-tasks.js';
import { certify, newAuthority, type CertifiedKey } from './agent-authority.js';
import { AgentPort, type ListenAddress } from './agent-port.js';
import { Claims } from './claims.js';
import { closedApiAddresses, closedNodeAddresses } from './closed-addresses.js';
import { Cluster, type ClusterOptions } from './cluster.js';
import { clusterChecks } from './cluster-checks.js';
import { ClusterImages } from './cluster-images.js';
import { KeptClaims } from './kept-claims.js';
import type { ImageFiles } from './made-images.js';
import { Confinement } from './confinement.js';
import { keys } from './names.js';
import { NetworkProbe } from './network-probe.js';
import { OwnPods, ownLabels } from './own-pods.js';
import { browserAddress } from './pod-browser.js';
import { firstContainer, podName, type BrowserBeside, type PodPlace } from './pod-parts.js';
import { agentPod, imagePod, programPod } from './pod-spec.js';
import type { PodScheduling } from './pod-scheduling.js';
import { ProgramPods } from './program-pods.js';
import { PodStarts } from './pod-starts.js';
import { lookAtPod, stateOf } from './pod-state.js';
import { podTasks } from './pod-tasks.js';
import { watchPods } from './watch-pods.js';

export interface KubernetesHostOptions extends ClusterOptions {
  /** Unique for each server of a namespace. */
  instance: string;
  /** Of everything that the owner creates. */
  labels: Labels;
  /** The default image; it and the runtime’s image may be of any registry. */
  image: string;
  /** The image with `/opt/belay`. */
  runtimeImage: string;
  /** Where this process listens for containers, and `wss://HOST:PORT` as they reach it. */
  listen: ListenAddress;
  address: string;
  /** The authority that the pods of earlier processes trust, or else a new one, which is kept for later ones. */
  authority(make: () => Promise<CertifiedKey>): Promise<CertifiedKey>;
  /** Null for none. */
  browser: BrowserBeside | null;
  /** The size of a container’s files, in MiB. */
  filesMb: number;
  /** Whether these are in the pod itself and end with it, and for messages the user’s setting for that. */
  podFiles: { isOn: boolean; setting: string };
  storageClass: string | undefined;
  /** Keeps images that are made here; null for a host that makes none. */
  imageFiles: ImageFiles | null;
  scheduling: PodScheduling;
  /** Whether pods may run that reach what they should not, and the user’s name of that setting. */
  unconfined: { isAllowed: boolean; setting: string };
  /** Of the server itself: a port at the same address that pods must not reach, if there is one. */
  closedPort: number | undefined;
  /** The user’s name of the memory setting. */
  memorySetting: string;
  /** Undefined where no other server shares the namespace. */
  others?: OthersAlive | undefined;
}

/**
 * Containers as pods in one namespace of a cluster. Each dials the port of this host with a token of its own, and has its
 * files in a persistent volume claim. A pod’s name has its id, and its annotations the hash of its token, so that the
 * next process can adopt it.
 */
export class KubernetesHost extends ContainerHost implements TaskRunner {
  readonly name = 'Kubernetes';
  readonly can: Can;
  readonly closedPaths: readonly string[] = [];
  readonly images: ClusterImages;
  readonly keptFiles: KeptClaims;
  readonly #claims: Claims;
  readonly #pods: PodStarts;
  readonly #own: OwnPods;
  readonly #confinement: Confinement;
  readonly #starts = new ContainerStarts();
  readonly #programs = new Set<string>();
  readonly #programPods: ProgramPods;
  /** Of which containers the browser was asked for. */
  readonly #browsers = new Set<string>();
  #onDial: (id: string, dial: DialIn) => void = (_, { socket }) =>
    refuse(socket, new AppError('unavailable', 'Nobody listens yet.'));

  private constructor(
    private readonly options: KubernetesHostOptions & { trusted: string },
    private readonly cluster: Cluster,
    private readonly port: AgentPort,
  ) {
    super();
    const { instance, labels, runtimeImage, address, trusted } = options;
    const { unconfined, closedPort, podFiles, imageFiles } = options;
    this.can = { folders: false, local: false, images: imageFiles !== null };
    port.onDial((id, dial) => {
      if (!this.#own.take(id, dial)) this.#onDial(id, dial);
    });
    const place = {
      instance,
      labels,
      runtimeImage,
      address,
      trusted,
      isConfined: !unconfined.isAllowed,
      browser: options.browser,
      scheduling: options.scheduling,
      podFilesMb: podFiles.isOn ? options.filesMb : null,
    };
    this.#pods = new PodStarts(cluster, port, place, podFiles.setting);
    this.#own = new OwnPods(this.#pods);
    const closed = closedPort === undefined ? [] : [{ host: hostOf(address), port: closedPort }];
    const probe = new NetworkProbe(cluster, this.#own, closed);
    this.#confinement = new Confinement(() => probe.run(), options);
    this.#claims = new Claims(this.cluster, options);
    this.#programPods = new ProgramPods({ cluster, port, pods: this.#pods, imageFiles });
    const { made, builds } = this.#programPods;
    this.images = new ClusterImages((spec) => this.#runInImage(spec), made, builds);
    this.keptFiles = new KeptClaims(
      this.#claims,
      {
        start: (spec, keptFiles, take) => this.#startOwn(spec, keptFiles, take),
        remove: (id) => this.#own.remove(id),
      },
      runtimeImage,
    );
  }

  /** Throws one sentence when the access to the cluster cannot be read, or the port not be opened. */
  static async open(options: KubernetesHostOptions): Promise<KubernetesHost> {
    const cluster = new Cluster(options);
    await closedApiAddresses(cluster.server).catch(ignoreError('the probe looks again'));
    const authority = await options.authority(newAuthority);
    const identity = await certify(authority, hostOf(options.address));
    const port = await AgentPort.open(options.listen, identity);
    return new KubernetesHost({ ...options, trusted: authority.certificate }, cluster, port);
  }

  checks(): Promise<Check[]> {
    return clusterChecks(() => this.cluster);
  }

  override async confinement(): Promise<Check[]> {
    return [await this.#confinement.check()];
  }

  override get caution(): string | null {
    return this.#confinement.caution;
  }

  override get keepsFiles(): boolean {
    return !this.options.podFiles.isOn;
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

  async adopt(id: string): Promise<void> {
    const pod = await this.cluster.pod(this.#podName(id));
    if (pod) closedNodeAddresses(pod);
    const hash = pod?.metadata?.annotations?.[keys.token];
    if (hash !== undefined) this.port.admit(id, hash);
  }

  watch(signal: AbortSignal): AsyncIterable<Seen | 'synced'> {
    const { instance, others } = this.options;
    const isUsed = (id: string): boolean => this.#own.has(id);
    return watchPods(this.cluster, { instance, isUsed, others }, signal);
  }

  async look(id: string): Promise<Look> {
    const name = this.#podName(id);
    const pod = await this.cluster.pod(name);
    if (this.#programs.has(id)) return lookAtPod(pod, null);
    const hasEnded = pod !== undefined && stateOf(pod) === 'ended';
    const printed = hasEnded ? await this.cluster.lastLines(name, firstContainer, 3) : '';
    const lastLine = visibleText(printed.trim().split('\n').at(-1)?.trim().slice(0, 300) ?? '');
    return lookAtPod(pod, { lastLine, setting: this.options.memorySetting });
  }

  /** Pods cannot be renamed. */
  async rename(): Promise<void> {}

  /** It starts when the agent asks for it there. */
  async browser(id: string): Promise<string> {
    const pod = await this.cluster.pod(this.#podName(id));
    const address = pod && browserAddress(pod);
    if (address === undefined)
      throw new AppError('unavailable', 'There is no browser beside this sandbox.');
    this.#browsers.add(id);
    return address;
  }

  async hasBrowser(id: string): Promise<boolean> {
    return this.#browsers.has(id);
  }

  async remove(id: string): Promise<void> {
    await this.#starts.settled(id);
    await this.#pods.remove(id);
    this.#starts.forget(id);
    this.#programs.delete(id);
    this.#programPods.forget(id);
    this.#browsers.delete(id);
  }

  tasks(capacity: Limits): ProgramTasks {
    return podTasks({
      name: this.name,
      images: this.images,
      capacity,
      start: async (spec, take) => {
        await this.#assertAllowed([spec.image]);
        await this.#confinement.assert();
        await this.#startOwn(spec, [], take);
      },
      look: async (id) => lookAtPod(await this.cluster.pod(this.#podName(id)), null),
      remove: (id) => this.#own.remove(id),
    });
  }

  hasFiles(files: string): Promise<boolean> {
    return this.keepsFiles ? this.#claims.has('files', files) : Promise.resolve(false);
  }

  storedFiles(): Promise<string[]> {
    return this.#claims.list('files');
  }

  removeFiles(files: string): Promise<void> {
    return this.#claims.remove('files', files);
  }

  close(): Promise<void> {
    this.#confinement.close();
    this.#own.close();
    return this.port.close();
  }

  async #start(spec: ContainerSpec, signal: AbortSignal): Promise<void> {
    const { id, files, folders, keptFiles, placedFiles } = spec;
    signal.throwIfAborted();
    assertNoFolders(folders);
    await this.#assertAllowed([spec.image]);
    await this.#confinement.assert();
    for (const { name, readOnly } of keptFiles)
      if (!readOnly) await this.#claims.make('home', name);
    if (this.keepsFiles) await this.#claims.make('files', files);
    const placed = placedFiles.map(({ text }) => text);
    const pod = (place: PodPlace) => agentPod(spec, place);
    const isSandbox = this.cluster.usesSandboxes;
    const onStranded = () => this.#claims.strand('files', files);
    await this.#pods.start({ id, pod, isSandbox, placed, signal, onStranded });
  }

  async #startProgram(spec: ProgramSpec, signal: AbortSignal): Promise<void> {
    const { id, workspace, folders } = spec;
    signal.throwIfAborted();
    assertNoFolders(folders);
    const images = await this.#programPods.imagesOf(spec);
    await this.#assertAllowed([images.first, ...images.services].map(({ base }) => base));
    await this.#confinement.assert();
    if (workspace && !this.keepsFiles)
      throw new AppError(
        'unavailable',
        'Nothing else can use the workspace of a session whose files are in its pod.',
      );
    if (workspace && !(await this.hasFiles(workspace.files)))
      throw new AppError('not_found', 'The workspace is not there any more.');
    this.#programs.add(id);
    await this.#programPods.start(spec, images, signal);
  }

  async #startOwn(
    spec: ProgramSpec,
    keptFiles: readonly KeptFiles[],
    take: (dial: DialIn) => void,
  ): Promise<void> {
    const own = { ...spec, labels: ownLabels };
    await this.#own.start(spec.id, (place) => programPod(own, place, { keptFiles }), take);
  }

  async #runInImage(spec: {
    id: string;
    image: string;
    command: readonly string[];
  }): Promise<V1Pod> {
    await this.#assertAllowed([spec.image]);
    const own = { ...spec, labels: ownLabels };
    return this.#own.run(
      spec.id,
      (place) => imagePod(own, place),
      (ended) => ended,
    );
  }

  #assertAllowed(images: readonly string[]): Promise<void> {
    const { image: own, runtimeImage } = this.options;
    return assertOpenRegistries(images, [own, runtimeImage]);
  }

  #podName(id: string): string {
    return podName(this.options.instance, id);
  }
}

/** An address or a name, of a URL. */
const hostOf = (url: string): string => new URL(url).hostname.replaceAll(/[[\]]/g, '');

function assertNoFolders(folders: readonly unknown[]): void {
  if (folders.length > 0)
    throw new AppError('unavailable', 'Kubernetes cannot share folders of this machine.');
}
