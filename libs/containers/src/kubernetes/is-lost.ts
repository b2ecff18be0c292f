import type { V1Pod } from '@kubernetes/client-node';

/**
 * The cluster has given up the pod’s node, which may be away for ever, and may still run the pod. A node that responds ends
 * it soon, and never reports a pod whose containers are ready as one that is not: the cluster did.
 */
export function isLost({ status }: V1Pod): boolean {
  const of = (wanted: string) => status?.conditions?.find(({ type }) => type === wanted);
  const isGivenUp = of('DisruptionTarget')?.reason === 'DeletionByTaintManager';
  return isGivenUp && of('Ready')?.status !== 'True' && of('ContainersReady')?.status === 'True';
}
