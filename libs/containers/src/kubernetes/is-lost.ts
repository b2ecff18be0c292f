import type { V1Pod, V1PodStatus } from '@kubernetes/client-node';

/**
 * More than it takes a node to report that it has ended a pod, and more than the clocks of a cluster differ, in ms. From
 * when the pod should have ended.
 */
const reportTimeoutMs = 20_000;

/**
 * The cluster has given up the pod’s node, which may be away for ever, and may still run the pod. A node that responds
 * never reports a pod whose containers are ready as one that is not: the cluster did. A pod of which a container, such
 * as its browser, had ended was not ready before: a node that responds ends it in time, and one that is lost does not.
 */
export function isLost(pod: V1Pod): boolean {
  if (!isGivenUp(pod) || conditionOf(pod.status, 'Ready')?.status === 'True') return false;
  return conditionOf(pod.status, 'ContainersReady')?.status === 'True' || isOverdue(pod);
}

/** The pod is to end because of its node’s state; whether it is lost may turn out only with time. */
export const isGivenUp = ({ status }: V1Pod): boolean =>
  conditionOf(status, 'DisruptionTarget')?.reason === 'DeletionByTaintManager';

const conditionOf = (status: V1PodStatus | undefined, wanted: string) =>
  status?.conditions?.find(({ type }) => type === wanted);

/** The time of deletion is when a pod has had all its time to end. In what a watch brings, it is a text. */
function isOverdue({ metadata }: V1Pod): boolean {
  const end = metadata?.deletionTimestamp;
  return end !== undefined && Date.now() > new Date(end).getTime() + reportTimeoutMs;
}
