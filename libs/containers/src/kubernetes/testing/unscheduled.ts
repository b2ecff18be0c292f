import type { V1PodStatus } from '@kubernetes/client-node';

/** The status of a pod that no node takes, with the words of the scheduler. */
export const unscheduled = (message: string): V1PodStatus => ({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
});
