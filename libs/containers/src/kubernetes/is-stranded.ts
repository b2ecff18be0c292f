import type { V1Pod } from '@kubernetes/client-node';
import { schedulerWords } from './pod-state.js';

/**
 * Whether a pod waits for a volume that none of the nodes has which the cluster has. The scheduler gives one reason for
 * each node, and looks at volumes last: a node that does not respond or is full may have the volume, and one that is kept
 * for other pods has none.
 */
export function isStranded(pod: V1Pod): boolean {
  const [nodes = ''] = schedulerWords(pod)?.split('. ') ?? [];
  const reasons = nodes.replace(/^0\/\d+ nodes are available: /, '').split(/, (?=\d+ )/);
  const hasOther = (reason: string) => !elsewhere.test(reason) && !forOthers.test(reason);
  return reasons.some((reason) => elsewhere.test(reason)) && !reasons.some(hasOther);
}

/** In Kubernetes up to 1.30, and in later versions. */
const elsewhere =
  /^\d+ node\(s\) (?:had volume node affinity conflict|didn't match PersistentVolume's node affinity)/;
/** What Kubernetes itself says of a node in a taint, such as that it is unreachable, may pass. */
const forOthers = /^\d+ node\(s\) had untolerated taint \{(?!node\.kubernetes\.io\/)/;
