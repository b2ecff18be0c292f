import { setTimeout as delay } from 'node:timers/promises';
import {
  AuthorizationV1Api,
  CoreV1Api,
  createConfiguration,
  CustomObjectsApi,
  KubeConfig,
  ServerConfiguration,
  Watch,
  type RequestContext,
  type ResponseContext,
  type V1OwnerReference,
  type V1ObjectMeta,
  type V1PersistentVolumeClaim,
  type V1Pod,
  type V1Secret,
  type V1Status,
} from '@kubernetes/client-node';
import { AppError } from '@belay/protocol';
import { agentSandbox, agentSandboxOf, agentSandboxVersion } from './agent-sandbox.js';
import { clusterError, isAlreadyThere, isMissing, isOutdated } from './cluster-errors.js';
import { Buffered } from './buffered.js';
import { isGivenUp, isLost } from './is-lost.js';

export interface ClusterOptions {
  /** A file with the address and the credentials of a cluster; undefined for the cluster that this process runs in. */
  kubeconfig: string | undefined;
  /** All objects are there. */
  namespace: string;
  /** Whether pods can be made by the `Sandbox` objects of kubernetes-sigs/agent-sandbox. */
  agentSandbox: boolean;
}

/** The pods of a moment. */
export interface PodList {
  pods: V1Pod[];
  version: string;
}

/** A change of a pod, with the pod as it is after it, or as it was before it was deleted. */
export interface PodChange {
  isDeleted: boolean;
  pod: V1Pod;
}

interface WatchEvent {
  type: string;
  object: V1Pod & V1Status;
}

/** How long a watch lasts: less than the 30 s after which the client takes a silent one for broken. */
const watchSeconds = 25;
const watchDelayMs = 50;
/** The time limits of a request, and of the end of a deleted pod: more than a cluster takes to give up a node. In ms. */
const requestTimeoutMs = 20_000;
const removalTimeoutMs = 90_000;
const removalLookMs = 150;
const logBytes = 2 ** 14;

/** The objects of one namespace. All methods throw `AppError` with one sentence. */
export class Cluster {
  readonly namespace: string;
  readonly usesSandboxes: boolean;
  /** The URL of its API. */
  readonly server: string;
  readonly #config = new KubeConfig();
  readonly #core: CoreV1Api;
  readonly #custom: CustomObjectsApi;
  readonly #authorization: AuthorizationV1Api;

  /** Throws `invalid_input` for a file that cannot be read. */
  constructor({ kubeconfig, namespace, agentSandbox: usesSandboxes }: ClusterOptions) {
    this.namespace = namespace;
    this.usesSandboxes = usesSandboxes;
    try {
      if (kubeconfig === undefined) this.#config.loadFromCluster();
      else this.#config.loadFromFile(kubeconfig);
    } catch (error) {
      const from = kubeconfig ?? 'the service account of this pod';
      throw new AppError(
        'invalid_input',
        `The access to Kubernetes cannot be read from ${from}: ${(error as Error).message}.`,
      );
    }
    const server = this.#config.getCurrentCluster()?.server;
    if (server === undefined)
      throw new AppError('invalid_input', `The file ${kubeconfig} has no current context.`);
    this.server = server;
    const configuration = createConfiguration({
      baseServer: new ServerConfiguration(server, {}),
      authMethods: { default: this.#config },
      promiseMiddleware: [{ pre: limitTime, post: asIs }],
    });
    this.#core = new CoreV1Api(configuration);
    this.#custom = new CustomObjectsApi(configuration);
    this.#authorization = new AuthorizationV1Api(configuration);
  }

  /** Returns the owner for what should go with the pod; undefined for one whose name is taken. */
  async createPod(body: V1Pod): Promise<V1OwnerReference | undefined> {
    const { namespace } = this;
    const made = await ifFree(() => this.#core.createNamespacedPod({ namespace, body }));
    return made && ownerOf('v1', 'Pod', made.metadata);
  }

  /** Like `createPod`, by an object of agent-sandbox. */
  async createSandbox(pod: V1Pod): Promise<V1OwnerReference | undefined> {
    const body = agentSandboxOf(pod);
    const { namespace } = this;
    const made = await ifFree(() =>
      this.#custom
        .createNamespacedCustomObject({ ...agentSandbox, namespace, body })
        .catch((error: unknown) => {
          throw isMissing(error) ? withoutSandboxes() : error;
        }),
    );
    const { metadata } = (made ?? {}) as V1Pod;
    return made && ownerOf(agentSandboxVersion, agentSandbox.kind, metadata);
  }

  pod(name: string): Promise<V1Pod | undefined> {
    return ifThere(() => this.#core.readNamespacedPod({ namespace: this.namespace, name }));
  }

  async pods(labelSelector: string): Promise<PodList> {
    const { namespace } = this;
    const found = await asked(() => this.#core.listNamespacedPod({ namespace, labelSelector }));
    return { pods: found.items, version: found.metadata?.resourceVersion ?? '' };
  }

  /**
   * The changes since a list, until the signal aborts or the cluster has forgotten those since then. Pods whose node is
   * given up are repeated now and then: without a change, they are lost after a while.
   */
  async *changes(
    labelSelector: string,
    { pods, version }: PodList,
    signal: AbortSignal,
  ): AsyncIterable<PodChange> {
    let resourceVersion = version;
    const givenUp = new Map<string | undefined, V1Pod>();
    const note = ({ isDeleted, pod }: PodChange): void => {
      if (isGivenUp(pod) && !isDeleted) givenUp.set(pod.metadata?.name, pod);
      else givenUp.delete(pod.metadata?.name);
    };
    for (const pod of pods) note({ isDeleted: false, pod });
    try {
      while (!signal.aborted) {
        for await (const { type, object } of this.#watch(
          { labelSelector, resourceVersion },
          signal,
        )) {
          resourceVersion = object.metadata?.resourceVersion ?? resourceVersion;
          const change = { isDeleted: type === 'DELETED', pod: object };
          // Its Sandbox would make another pod, which nobody knows.
          if (change.isDeleted && this.usesSandboxes)
            await this.removePod(object.metadata?.name ?? '');
          note(change);
          if (type !== 'BOOKMARK') yield change;
        }
        for (const pod of givenUp.values()) yield { isDeleted: false, pod };
        await delay(watchDelayMs, undefined, { signal, ref: false });
      }
    } catch (error) {
      if (!signal.aborted && !isOutdated(error)) throw clusterError(error);
    }
  }

  /**
   * Ends a pod’s programs and waits until its node has removed it, or is lost. Does nothing for one that is not there.
   * `onAccepted` is called before the wait: on a node that is away, the programs go on. When `isForced`, only the object
   * goes.
   */
  async removePod(
    name: string,
    { isForced = false, onAccepted = () => {} }: { isForced?: boolean; onAccepted?(): void } = {},
  ): Promise<void> {
    const { namespace } = this;
    // An agent was asked to end before, and no other program gets time.
    const gracePeriodSeconds = isForced ? 0 : 1;
    if (this.usesSandboxes)
      await ifThere(() =>
        this.#custom.deleteNamespacedCustomObject({ ...agentSandbox, namespace, name }),
      );
    const first = await ifThere(() =>
      this.#core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds }),
    );
    onAccepted();
    if (first) await this.untilRemoved(name);
  }

  /** Whether a pod that was deleted is gone: waits for it, but not for a node that is lost. */
  async untilRemoved(name: string): Promise<boolean> {
    const awaited = async (): Promise<V1Pod | undefined> => {
      const pod = await this.pod(name);
      return pod && isLost(pod) ? undefined : pod;
    };
    await this.#untilGone(awaited, `the pod ${name}; its node may be away`);
    return !(await this.pod(name));
  }

  /** The end of what a container of a pod has printed; empty when nothing is known of it. */
  async lastLines(name: string, container: string, tailLines: number): Promise<string> {
    const { namespace } = this;
    const of = { namespace, name, container, tailLines, limitBytes: logBytes };
    return (await this.#core.readNamespacedPodLog(of).catch(() => '')) ?? '';
  }

  async createSecret(body: V1Secret): Promise<void> {
    await asked(() => this.#core.createNamespacedSecret({ namespace: this.namespace, body }));
  }

  /** Does nothing for one whose name is taken. */
  async createClaim(body: V1PersistentVolumeClaim): Promise<void> {
    const { namespace } = this;
    await ifFree(() => this.#core.createNamespacedPersistentVolumeClaim({ namespace, body }));
  }

  claim(name: string): Promise<V1PersistentVolumeClaim | undefined> {
    const { namespace } = this;
    return ifThere(() => this.#core.readNamespacedPersistentVolumeClaim({ namespace, name }));
  }

  async claims(labelSelector: string): Promise<V1PersistentVolumeClaim[]> {
    const of = { namespace: this.namespace, labelSelector };
    return (await asked(() => this.#core.listNamespacedPersistentVolumeClaim(of))).items;
  }

  /** Removes a claim with its files. Does nothing for one that is not there. */
  async removeClaim(name: string): Promise<void> {
    const { namespace } = this;
    await ifThere(() => this.#core.deleteNamespacedPersistentVolumeClaim({ namespace, name }));
    await this.#untilGone(() => this.claim(name), `the claim ${name}; a pod may still use it`);
  }

  /** Whether this process may do something with a kind of objects in the namespace. */
  async may({ verb, resource, group = '', subresource = '' }: Right): Promise<boolean> {
    const { namespace } = this;
    const review = await asked(() =>
      this.#authorization.createSelfSubjectAccessReview({
        body: { spec: { resourceAttributes: { namespace, verb, resource, group, subresource } } },
      }),
    );
    return review.status?.allowed ?? false;
  }

  /** One request, which the cluster ends after a while. */
  async *#watch(
    query: { labelSelector: string; resourceVersion: string },
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent> {
    const events = new Buffered<WatchEvent>();
    const running = await new Watch(this.#config).watch(
      `/api/v1/namespaces/${this.namespace}/pods`,
      { ...query, allowWatchBookmarks: true, timeoutSeconds: watchSeconds },
      (type: string, object: V1Pod & V1Status) =>
        type === 'ERROR' ? events.end(object) : events.push({ type, object }),
      (error: unknown) => events.end(error),
    );
    const stop = (): void => running.abort();
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    try {
      yield* events;
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  async #untilGone(look: () => Promise<object | undefined>, what: string): Promise<void> {
    const end = Date.now() + removalTimeoutMs;
    while (await look()) {
      if (Date.now() > end)
        throw new AppError('unavailable', `Kubernetes does not remove ${what}.`);
      await delay(removalLookMs);
    }
  }
}

/** As in a Role. */
export interface Right {
  verb: string;
  resource: string;
  subresource?: string;
  group?: string;
}

const ownerOf = (
  apiVersion: string,
  kind: string,
  { name = '', uid = '' }: V1ObjectMeta = {},
): V1OwnerReference => ({ apiVersion, kind, name, uid });

const withoutSandboxes = (): AppError =>
  new AppError(
    'unavailable',
    'The cluster has no Sandbox objects: install kubernetes-sigs/agent-sandbox, or make pods without it.',
  );

const asIs = async (response: ResponseContext): Promise<ResponseContext> => response;

async function limitTime(request: RequestContext): Promise<RequestContext> {
  request.setSignal(AbortSignal.timeout(requestTimeoutMs));
  return request;
}

async function asked<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw clusterError(error);
  }
}

const ifThere = <T>(request: () => Promise<T>): Promise<T | undefined> =>
  without(isMissing, request);

const ifFree = <T>(request: () => Promise<T>): Promise<T | undefined> =>
  without(isAlreadyThere, request);

/** Undefined for an expected error. */
async function without<T>(
  isExpected: (error: unknown) => boolean,
  request: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    if (isExpected(error)) return undefined;
    throw clusterError(error);
  }
}
