import { openKubernetes, type ContainerHost } from '@belay/containers';
import type { Config } from '../config.js';
import type { KubernetesConfig } from '../kubernetes-config.js';
import { ownerLabels } from '../owner-labels.js';
import { agentAddress } from './agent-address.js';

/** A namespace of a cluster as the host of containers. Throws one sentence when it cannot be used at all. */
export async function kubernetesHostOf(
  config: Config,
  { url, ...options }: KubernetesConfig,
): Promise<ContainerHost> {
  const { image, instance } = config;
  return openKubernetes({
    ...options,
    instance,
    image,
    address: await agentAddress(url),
    labels: ownerLabels(config),
    memorySetting: 'BELAY_MEMORY_MB',
  });
}
