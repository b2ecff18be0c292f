import { openKubernetes, type CertifiedKey } from '@belay/containers';
import { prepared } from '@belay/testkit';
import { describeHost } from '../system/hosts/describe-host.js';
import { TestCluster } from './test-cluster.js';

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
    const { kubeconfig, namespace, address } = cluster;
    const port = freed.pop() ?? cluster.nextPort();
    const host = await openKubernetes({
      kubeconfig,
      namespace,
      instance,
      labels: {},
      authority: (make) => (authorities[instance] ??= make()),
      image: image(),
      runtimeImage: prepared('BELAY_RUNTIME_IMAGE'),
      listen: { host: address, port },
      address: `wss://${address}:${port}`,
      filesMb: 64,
      storageClass: undefined,
      memorySetting: 'the limit',
      unconfined: { isAllowed: false, setting: 'ALLOW' },
      closedPort: undefined,
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
