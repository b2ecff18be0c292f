import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import type { Labels, OthersAlive } from '../container-host.js';
import type { Cluster } from './cluster.js';
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

  async has(kind: ClaimKind, name: string): Promise<boolean> {
    const found = await this.cluster.claim(this.nameOf(kind, name));
    return found !== undefined && found.metadata?.deletionTimestamp === undefined;
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

  /** Does nothing for one that is not there. */
  remove(kind: ClaimKind, name: string): Promise<void> {
    return this.cluster.removeClaim(this.nameOf(kind, name));
  }
}

/** Names of files that are kept are unique among both of their kinds. */
export const claimName = (instance: string, kind: ClaimKind, name: string): string =>
  objectName(instance, kind === 'files' ? 'files' : 'kept', name);

const nameIn = ({ metadata }: V1PersistentVolumeClaim): string | undefined =>
  metadata?.annotations?.[keys.name];
