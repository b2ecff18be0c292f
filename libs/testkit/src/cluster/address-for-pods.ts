import { once } from 'node:events';
import { connect } from 'node:net';
import type { KubeConfig } from '@kubernetes/client-node';
import { chosen } from '../environment.js';

/** An address of this machine that pods of the test cluster can reach. */
export async function addressForPods(config: KubeConfig): Promise<string> {
  const given = chosen('BELAY_TEST_CLUSTER_ADDRESS');
  if (given) return given;
  const { hostname, port } = new URL(config.getCurrentCluster()?.server ?? '');
  const socket = connect({ host: hostname, port: Number(port || 443) });
  await once(socket, 'connect');
  const { localAddress: address = '' } = socket;
  socket.destroy();
  return address;
}
