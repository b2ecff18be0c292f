import { BelayServer } from '../belay-server.js';
import { prepared } from '../environment.js';
import type { TestCluster } from './test-cluster.js';

/** The variables of a server whose sandboxes are pods of a cluster, at this port of its address. */
export const clusterVariables = (cluster: TestCluster, port: number): Record<string, string> => ({
  BELAY_ENGINE: 'kubernetes',
  KUBECONFIG: cluster.kubeconfig,
  BELAY_NAMESPACE: cluster.namespace,
  BELAY_RUNTIME_IMAGE: prepared('BELAY_RUNTIME_IMAGE'),
  BELAY_AGENT_HOST: cluster.address,
  BELAY_AGENT_URL: `wss://${cluster.address}:${port}`,
  BELAY_FILES_MB: '64',
  BELAY_MEMORY_MB: '512',
  BELAY_CPUS: '1',
});

/** A server, not started yet, whose sandboxes are pods of a cluster, and which has no rights there but its own. */
export const clusterServer = (
  cluster: TestCluster,
  port: number,
  more: Record<string, string> = {},
): BelayServer => new BelayServer({ ...clusterVariables(cluster, port), ...more });
