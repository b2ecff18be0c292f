import type { Check } from '@belay/protocol';
import type { ClusterOptions } from './cluster.js';
import type { KubernetesHost, KubernetesHostOptions } from './kubernetes-host.js';
import type { LeftPods } from './left-pods.js';

/**
 * Pods of a cluster as a host of containers. Its client takes a second and 90 MB, so it is loaded here and nowhere else.
 * Throws one sentence when the access to the cluster cannot be read, or the port for agents not be opened.
 */
export async function openKubernetes(options: KubernetesHostOptions): Promise<KubernetesHost> {
  const { KubernetesHost: Host } = await import('./kubernetes-host.js');
  return Host.open(options);
}

/** Whether a cluster can run containers, where no host of it is open. */
export async function checkCluster(of: ClusterOptions): Promise<Check[]> {
  const [{ Cluster }, { clusterChecks }] = await Promise.all([
    import('./cluster.js'),
    import('./cluster-checks.js'),
  ]);
  return clusterChecks(() => new Cluster(of));
}

/** Removes all pods and claims of one owner from a cluster; returns how many. Throws `unavailable` while it does not respond. */
export async function removeLeftPods(instance: string, of: ClusterOptions): Promise<LeftPods> {
  const { leftPodsRemoved } = await import('./left-pods.js');
  return leftPodsRemoved(instance, of);
}
