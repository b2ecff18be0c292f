import type { V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node';
import type { Labels, OthersAlive } from '../container-host.js';
import type { Cluster } from './cluster.js';
import { isLost } from './is-lost.js';
import { keys, metadataOf, objectName } from './names.js';

/** The files of a container, files that were filled from a tar, or a home that containers write to. */
export type ClaimKind = 'files' | 'filled' | 'home';

export interface ClaimOptions {
  instance: string;
  /** Of everything that the owner creates. */
  labels: Labels;
  /** The size of a claim, in MiB. */
  filesMb: number;
  /** The cluster’s own default if undefined. */
  storageClass: string | undefined;
  /** Undefined where no other server shares the namespace. */
  others?: OthersAlive | undefined;
}

/** Persistent volume claims: each keeps files under a name. */
export class Claims {
  /** The names of claims whose volumes no node has. */
  readonly #stranded = new Set<string>();

  constructor(
    private readonly cluster: Cluster,
    private readonly options: ClaimOptions,
  ) {}

  /** The name of the claim. */
  nameOf(kind: ClaimKind, name: string): string {
    return claimName(this.options.instance, kind, name);
  }

  /** Does nothing for one that is there. */
  async make(kind: ClaimKind, name: string): Promise<void> {
    const { instance, filesMb, storageClass, labels: own } = this.options;
    const { labels, annotations } = metadataOf({
      ...own,
      [keys.instance]: instance,
      [keys.kind]: kind,
    });
    await this.cluster.createClaim({
      metadata: {
        name: this.nameOf(kind, name),
        labels: { ...labels },
        annotations: { ...annotations, [keys.name]: name },
      },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: `${filesMb}Mi` } },
        ...(storageClass !== undefined && { storageClassName: storageClass }),
      },
    });
  }

  /** From now on, it is not there for a new pod: its volume is on a node that the cluster does not have any more. */
  strand(kind: ClaimKind, name: string): void {
    this.#stranded.add(this.nameOf(kind, name));
  }

  /**
   * Whether it is there for a new pod. One whose pod is on a lost node is not, as long as that pod’s object says that its
   * programs may run there: volumes of some kinds can be used on two nodes at once.
   */
  async has(kind: ClaimKind, name: string): Promise<boolean> {
    const own = this.nameOf(kind, name);
    const found = await this.cluster.claim(own);
    if (!found || found.metadata?.deletionTimestamp) return false;
    if (found.status?.phase === 'Lost' || this.#stranded.has(own)) return false;
    for (const { metadata } of await this.#podsWith(own))
      if (metadata?.deletionTimestamp && !(await this.cluster.untilRemoved(metadata.name ?? '')))
        return false;
    return true;
  }

  /** The names of all of a kind, except of those of other servers that are alive; also of those that are being removed. */
  async list(kind: ClaimKind): Promise<string[]> {
    const selector = `${keys.instance}=${this.options.instance},${keys.kind}=${kind}`;
    const found = await this.cluster.claims(selector);
    // Asked after they were listed: a server is known before it makes anything.
    const others = await this.options.others?.();
    return found
      .filter(({ metadata }) => !others?.has(metadata?.labels?.[keys.server] ?? ''))
      .flatMap((claim) => nameIn(claim) ?? []);
  }

  /**
   * Does nothing for one that is not there. Pods of lost nodes go before it, because the cluster keeps a claim as long as
   * it has a pod. Only their objects go, and their programs may run on: nobody admits their agents any more, what they
   * write is of no use, and a node that is back ends what has no object.
   */
  async remove(kind: ClaimKind, name: string): Promise<void> {
    const own = this.nameOf(kind, name);
    for (const pod of await this.#podsWith(own))
      if (isLost(pod)) await this.cluster.removePod(pod.metadata?.name ?? '', { isForced: true });
    await this.cluster.removeClaim(own);
    this.#stranded.delete(own);
  }

  async #podsWith(claim: string): Promise<V1Pod[]> {
    const { pods } = await this.cluster.pods(`${keys.instance}=${this.options.instance}`);
    return pods.filter(({ spec }) =>
      spec?.volumes?.some((one) => one.persistentVolumeClaim?.claimName === claim),
    );
  }
}

/** Names of files that are kept are unique among both of their kinds. */
export const claimName = (instance: string, kind: ClaimKind, name: string): string =>
  objectName(instance, kind === 'files' ? 'files' : 'kept', name);

const nameIn = ({ metadata }: V1PersistentVolumeClaim): string | undefined =>
  metadata?.annotations?.[keys.name];
