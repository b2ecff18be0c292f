import { Cluster, type ClusterOptions } from './cluster.js';
import { isLost } from './is-lost.js';
import { keys } from './names.js';

export interface LeftPods {
  pods: number;
  claims: number;
}

/** Removes the pods and the claims of one owner. */
export async function leftPodsRemoved(instance: string, of: ClusterOptions): Promise<LeftPods> {
  const cluster = new Cluster(of);
  const selector = `${keys.instance}=${instance}`;
  const { pods } = await cluster.pods(selector);
  for (const pod of pods)
    await cluster.removePod(pod.metadata?.name ?? '', { isForced: isLost(pod) });
  const claims = await cluster.claims(selector);
  for (const { metadata } of claims) await cluster.removeClaim(metadata?.name ?? '');
  return { pods: pods.length, claims: claims.length };
}
