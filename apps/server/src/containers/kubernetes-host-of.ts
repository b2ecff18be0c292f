import {
  openKubernetes,
  type CertifiedKey,
  type ContainerHost,
  type OthersAlive,
} from '@belay/containers';
import { z } from 'zod';
import type { Config } from '../config.js';
import type { KubernetesConfig } from '../kubernetes-config.js';
import { ownerLabels } from '../owner-labels.js';
import type { Documents } from '../storage/documents.js';
import type { ObjectStore } from '../storage/object-store.js';
import { agentAddress } from './agent-address.js';

const certifiedKey = z.object({ certificate: z.string(), key: z.string() }).nullable();

/** A namespace of a cluster as the host of containers. Throws one sentence when it cannot be used at all. */
export async function kubernetesHostOf(
  config: Config,
  { url, allowUnconfined, files, ...options }: KubernetesConfig,
  {
    documents,
    objects,
    others,
  }: { documents: Documents; objects: ObjectStore; others: OthersAlive },
): Promise<ContainerHost> {
  const { image, instance, sidecarImage, memoryMb, cpus } = config;
  const host = await openKubernetes({
    ...options,
    instance,
    image,
    address: await agentAddress(url),
    authority: (make) => keptAuthority(documents, make),
    labels: ownerLabels(config),
    browser: { image: sidecarImage, limits: { memoryMb: Math.max(1024, memoryMb), cpus } },
    memorySetting: 'BELAY_MEMORY_MB',
    others,
    imageFiles: objects,
    unconfined: { isAllowed: allowUnconfined, setting: 'BELAY_ALLOW_UNCONFINED=true' },
    podFiles: { isOn: files === 'pods', setting: 'BELAY_FILES=pods' },
    closedPort: config.port || undefined,
  });
  // Before the first session needs to know it; never rejects.
  void host.confinement();
  return host;
}

/** Made at the first start; of two servers that start at once, the first one’s is kept. */
async function keptAuthority(
  documents: Documents,
  make: () => Promise<CertifiedKey>,
): Promise<CertifiedKey> {
  const document = documents.open('agent-authority', certifiedKey, null);
  if (document.value) return document.value;
  const made = await make();
  await document.change((kept) => kept ?? made);
  return document.value ?? made;
}
