import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { AppError, ignoreError, visibleText } from '@belay/protocol';
import type { SeenState } from '../container-host.js';
import { hashOfToken, type AgentPort } from './agent-port.js';
import { closedNodeAddresses } from './closed-addresses.js';
import type { Cluster } from './cluster.js';
import { isStranded } from './is-stranded.js';
import { keys } from './names.js';
import { podName, podSecret, preparingContainer, type PodPlace } from './pod-parts.js';
import { isUnprepared, startFault, stateOf, withoutNode } from './pod-state.js';

export interface PodStart {
  id: string;
  /** The pod, for a place with the hash of its token. */
  pod(place: PodPlace): V1Pod;
  /** Whether it is made by an object of agent-sandbox. */
  isSandbox?: boolean;
  /** The texts of its placed files. */
  placed?: readonly string[];
  /** Called before the error when its volumes are on none of the cluster’s nodes, and none has come for them. */
  onStranded?: () => void;
  signal: AbortSignal;
}

/** How often a pod that starts is looked at, and how long it may wait for a node, its volumes and its images, in ms. */
const lookMs = 300;
const startTimeoutMs = 120_000;
/** How long agent-sandbox may take to make a pod, in ms. */
const madeTimeoutMs = 30_000;
/** How long a claim may have no volume, in ms. */
const bindTimeoutMs = 10_000;

/** Makes pods, and waits until they run. */
export class PodStarts {
  constructor(
    private readonly cluster: Cluster,
    private readonly port: AgentPort,
    private readonly place: Omit<PodPlace, 'tokenHash'>,
    /** For messages: what keeps files in pods. */
    private readonly podFilesSetting: string,
  ) {}

  /**
   * Resolves when the first container runs or has ended. Does nothing more for a pod that is there. Throws one sentence,
   * or the signal’s reason; then no pod is left.
   */
  async start(start: PodStart): Promise<V1Pod> {
    try {
      const pod = await this.#start(start);
      closedNodeAddresses(pod);
      return pod;
    } catch (error) {
      await this.remove(start.id).catch(ignoreError('the first error says more'));
      throw error;
    }
  }

  /**
   * Ends a pod and its connections. Does nothing for one that is not there. From when the cluster has accepted that, its
   * programs are refused, wherever they go on; before, they may be kept.
   */
  async remove(id: string): Promise<void> {
    await this.cluster.removePod(podName(this.place.instance, id), {
      onAccepted: () => this.port.remove(id),
    });
  }

  /** Like `start`, but resolves when the first container has ended. */
  async run(start: PodStart): Promise<V1Pod> {
    const begun = await this.start(start);
    return this.#until(begun.metadata?.name ?? '', ['ended'], start);
  }

  async #start(start: PodStart): Promise<V1Pod> {
    const { id, pod, isSandbox = false, placed = [], signal } = start;
    const token = randomBytes(32).toString('base64url');
    const wanted = pod({ ...this.place, tokenHash: hashOfToken(token) });
    const { name = '', annotations } = wanted.metadata ?? {};
    const isConnected = annotations?.[keys.token] !== undefined;
    if (isConnected) this.port.admit(id, hashOfToken(token));
    const owner = isSandbox
      ? await this.cluster.createSandbox(wanted)
      : await this.cluster.createPod(wanted);
    // Of the pod, so that it goes with it; a node waits for it.
    const { trusted } = this.place;
    if (owner && isConnected)
      await this.cluster.createSecret(podSecret(wanted, owner, { token, trusted, placed }));
    if (isSandbox) await this.#untilMade(name, signal);
    return this.#until(name, ['running', 'ended'], start);
  }

  /** The controller of agent-sandbox makes a pod after its object. */
  async #untilMade(name: string, signal: AbortSignal): Promise<void> {
    const begun = Date.now();
    while (!(await this.cluster.pod(name))) {
      signal.throwIfAborted();
      if (Date.now() > begun + madeTimeoutMs)
        throw new AppError(
          'unavailable',
          `agent-sandbox did not make the pod within ${madeTimeoutMs / 1000} s; see kubectl describe sandbox.`,
        );
      await delay(lookMs, undefined, { signal }).catch(ignoreError('it is thrown above'));
    }
  }

  async #until(
    name: string,
    states: readonly SeenState[],
    { signal, onStranded }: PodStart,
  ): Promise<V1Pod> {
    const begun = Date.now();
    for (;;) {
      const pod = await this.cluster.pod(name);
      signal.throwIfAborted();
      if (!pod) throw new AppError('unavailable', 'The container was deleted in the cluster.');
      if (isUnprepared(pod)) throw await this.#unprepared(name);
      if (states.includes(stateOf(pod))) return pod;
      const fault = startFault(pod) ?? (await this.#storageFault(pod, begun));
      if (fault) throw fault;
      if (Date.now() > begun + startTimeoutMs) {
        if (isStranded(pod)) onStranded?.();
        throw late(pod);
      }
      await delay(lookMs, undefined, { signal }).catch(ignoreError('it is thrown above'));
    }
  }

  /** A claim without a class is bound by nothing but a volume that somebody makes for it. */
  async #storageFault(pod: V1Pod, begun: number): Promise<AppError | undefined> {
    if (Date.now() < begun + bindTimeoutMs || withoutNode(pod) === undefined) return undefined;
    for (const { persistentVolumeClaim: volume } of pod.spec?.volumes ?? []) {
      const claim = volume && (await this.cluster.claim(volume.claimName));
      if (claim?.status?.phase === 'Pending' && !claim.spec?.storageClassName)
        return new AppError(
          'unavailable',
          `The cluster has no default storage class for the files of sandboxes: make one the default, or keep files in pods with ${this.podFilesSetting}.`,
        );
    }
    return undefined;
  }

  async #unprepared(name: string): Promise<AppError> {
    const printed = await this.cluster.lastLines(name, preparingContainer, 20);
    const fault = /^\w*Error: .*$/m.exec(printed)?.[0] ?? 'it said nothing';
    return new AppError(
      'unavailable',
      `The pod could not be prepared with the image ${this.place.runtimeImage}: ${visibleText(fault)}.`,
    );
  }
}

function late(pod: V1Pod): AppError {
  const words = withoutNode(pod);
  const why = words === undefined ? 'see kubectl describe pod' : `no node takes it: ${words}`;
  return new AppError(
    'unavailable',
    `The container did not get ready within ${startTimeoutMs / 1000} s; ${why}.`,
  );
}
