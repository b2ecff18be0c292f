import { openKubernetes, type ContainerSpec, type KubernetesHostOptions } from '@belay/containers';
import { prepared, type TestCluster } from '@belay/testkit';
import { MemoryImageFiles } from '../../libs/containers/src/kubernetes/testing/memory-image-files.js';
import { newId } from '../system/hosts/host-user.js';

/** A host of pods in a test’s namespace. */
export function openPodHost(
  cluster: TestCluster,
  { port = cluster.nextPort(), ...more }: Partial<KubernetesHostOptions> & { port?: number } = {},
): ReturnType<typeof openKubernetes> {
  const { kubeconfig, namespace, address } = cluster;
  return openKubernetes({
    kubeconfig,
    namespace,
    agentSandbox: false,
    instance: newId(),
    labels: {},
    authority: (make) => make(),
    image: prepared('BELAY_TEST_IMAGE'),
    runtimeImage: prepared('BELAY_RUNTIME_IMAGE'),
    listen: { host: address, port },
    address: `wss://${address}:${port}`,
    browser: null,
    filesMb: 64,
    storageClass: undefined,
    imageFiles: new MemoryImageFiles(),
    scheduling: {},
    podFiles: { isOn: false, setting: 'FILES=pods' },
    memorySetting: 'the limit',
    unconfined: { isAllowed: false, setting: 'ALLOW' },
    closedPort: undefined,
    ...more,
  });
}

export function podSpec(more: Partial<ContainerSpec> = {}): ContainerSpec {
  const id = newId();
  return {
    id,
    label: `pod-${id}`,
    labels: {},
    image: prepared('BELAY_TEST_IMAGE'),
    rights: 'hardened',
    limits: { memoryMb: 256, cpus: 1 },
    env: {},
    files: id,
    folders: [],
    keptFiles: [],
    placedFiles: [],
    ...more,
  };
}
