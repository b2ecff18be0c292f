import type { CertifiedKey } from '@belay/containers';
import { prepared, TestCluster } from '@belay/testkit';
import { describeHost } from '../system/hosts/describe-host.js';
import { openPodHost } from './pod-host.js';

const image = () => prepared('BELAY_TEST_IMAGE');
let opening: Promise<TestCluster> | undefined;
/** Ports of hosts that were closed: pods dial them until another process of their owner listens there. */
const freed: number[] = [];
/** Of each owner. */
const authorities: Record<string, Promise<CertifiedKey>> = {};

describeHost('Kubernetes as a host of containers', () => ({
  images: { default: image(), other: prepared('BELAY_TEST_DEBIAN') },
  open: async (instance) => {
    const cluster = await (opening ??= TestCluster.open());
    const port = freed.pop() ?? cluster.nextPort();
    const host = await openPodHost(cluster, {
      port,
      instance,
      authority: (make) => (authorities[instance] ??= make()),
    });
    const close = host.close.bind(host);
    host.close = async () => {
      await close();
      freed.push(port);
    };
    return host;
  },
  dispose: async () => (await opening)?.remove(),
}));
