import type { V1Pod } from '@kubernetes/client-node';
import { clusterCommand, type TestCluster } from '@belay/testkit';
import { until } from '@belay/testing';

/** The pods of agents in a test’s namespace: not those that try the network, nor those of programs. */
export async function agentPods({ core, namespace }: TestCluster): Promise<V1Pod[]> {
  return (await core.listNamespacedPod({ namespace, labelSelector: 'belay.files' })).items;
}

/** The pods of programs of others, such as MCP servers. */
export async function programPods({ core, namespace }: TestCluster): Promise<V1Pod[]> {
  return (await core.listNamespacedPod({ namespace, labelSelector: 'belay.written' })).items;
}

/** The names of the claims with files of agents. */
export async function claimNames({ core, namespace }: TestCluster): Promise<string[]> {
  const { items } = await core.listNamespacedPersistentVolumeClaim({ namespace });
  return items.map(({ metadata }) => metadata?.name ?? '');
}

/** The ids of the `Sandbox` objects of agent-sandbox, which stay the same for as long as these do. */
export async function sandboxIds({ namespace }: TestCluster): Promise<string[]> {
  const path = '{range .items[*]}{.metadata.uid}{"\\n"}{end}';
  const kind = 'sandboxes.agents.x-k8s.io';
  const args = ['get', kind, '--namespace', namespace, '--output', `jsonpath=${path}`];
  const found = await clusterCommand('kubectl', args);
  return found.split('\n').filter(Boolean);
}

/** Waits until nothing of any agent is left: no pod, no secret and no files. */
export async function untilEmpty(cluster: TestCluster): Promise<void> {
  const { core, namespace } = cluster;
  const left = async (): Promise<string[]> => {
    const pods = await agentPods(cluster);
    const secrets = (await core.listNamespacedSecret({ namespace })).items;
    return [
      ...[...pods, ...secrets].map(({ metadata }) => metadata?.name ?? ''),
      ...(await claimNames(cluster)),
    ];
  };
  await until('nothing is left', async () => (await left()).length === 0, {
    state: async () => (await left()).join('\n'),
  });
}

/** Unlike its name, a pod’s id is never that of another one. */
export const podId = ({ metadata }: V1Pod): string => metadata?.uid ?? '';

/** The session that a pod was made for; undefined for one that was made before its session. */
export const sessionOfPod = ({ metadata }: V1Pod): string | undefined =>
  metadata?.labels?.['belay.session'];

/** Ends a pod without any time to end. */
export async function killPod({ core, namespace }: TestCluster, pod: V1Pod): Promise<void> {
  await core.deleteNamespacedPod({
    namespace,
    name: pod.metadata?.name ?? '',
    gracePeriodSeconds: 0,
  });
}
