import type { ContainerHost, KubernetesHostOptions } from '@belay/containers';
import { until } from '@belay/testing';
import { never } from '../system/hosts/host-user.js';
import { TestCluster } from '@belay/testkit';
import { openPodHost, podSpec } from './pod-host.js';

describe('what a cluster does not run', () => {
  let cluster: TestCluster;
  const hosts: ContainerHost[] = [];
  beforeAll(async () => {
    cluster = await TestCluster.open();
  });
  afterAll(async () => {
    for (const one of hosts) await one.close();
    await cluster.remove();
  });

  /** Its pods need not be confined, so that only the refusal under test remains. */
  async function host(more: Partial<KubernetesHostOptions> = {}) {
    const unconfined = { isAllowed: true, setting: 'ALLOW' };
    const opened = await openPodHost(cluster, { unconfined, ...more });
    hosts.push(opened);
    return opened;
  }
  const pods = async () =>
    (await cluster.core.listNamespacedPod({ namespace: cluster.namespace })).items;

  it('says which claims have no storage class, and which setting needs none', async () => {
    const classless = await host({ storageClass: '' });
    await expect(classless.start(podSpec(), never)).rejects.toThrow(
      'The cluster has no default storage class for the files of sandboxes: make one the default, or keep files in pods with FILES=pods.',
    );
    expect(await pods()).toEqual([]);
    // The same cluster runs it with that setting.
    const inPods = await host({ storageClass: '', podFiles: { isOn: true, setting: '' } });
    const wanted = podSpec();
    await inPods.start(wanted, never);
    expect(await inPods.look(wanted.id)).toMatchObject({ state: 'running' });
    await inPods.remove(wanted.id);
  });

  it('says why no node takes a pod, in the words of the scheduler', async () => {
    const wrong = await host({ storageClass: 'there-is-none' });
    await expect(wrong.start(podSpec(), never)).rejects.toThrow(
      /^The container did not get ready within 120 s; no node takes it: .*PersistentVolumeClaim/,
    );
    expect(await pods()).toEqual([]);
  });

  it.each([{ runtimeClassName: 'there-is-none' }, { priorityClassName: 'there-is-none' }])(
    'says which class the cluster does not have: %j',
    async (scheduling) => {
      const classless = await host({ scheduling });
      await expect(classless.start(podSpec(), never)).rejects.toThrow(
        /^The cluster lacks a class that its pods are set to have \(.*there-is-none.* found\): make it, or name another one\.$/,
      );
      expect(await pods()).toEqual([]);
    },
  );

  it('says that no node has the labels of its setting', async () => {
    const nowhere = await host({ scheduling: { nodeSelector: { 'example.com/pool': 'none' } } });
    await expect(nowhere.start(podSpec(), never)).rejects.toThrow(
      /^The container did not get ready within 120 s; no node takes it: .*selector/,
    );
    expect(await pods()).toEqual([]);
  });

  it('says which image cannot be pulled', async () => {
    const any = await host();
    const image = 'belay/there-is-no-such-image:1';
    await expect(any.start(podSpec({ image }), never)).rejects.toThrow(
      /^Kubernetes cannot pull the image \S*belay\/there-is-no-such-image:1: .+\.$/,
    );
    expect(await pods()).toEqual([]);
  });

  it('says that the quota of the namespace is used up, and goes on when there is more', async () => {
    const { namespace } = cluster;
    const any = await host();
    const name = 'none';
    await cluster.core.createNamespacedResourceQuota({
      namespace,
      body: { metadata: { name }, spec: { hard: { pods: '0' } } },
    });
    await until('it is counted', async () => {
      const { status } = await cluster.core.readNamespacedResourceQuota({ namespace, name });
      return status?.used?.['pods'] === '0';
    });
    const wanted = podSpec();
    await expect(any.start(wanted, never)).rejects.toThrow(
      /^The namespace’s quota allows no further container: .*requested: pods=1, used: pods=0, limited: pods=0\.$/,
    );
    await cluster.core.deleteNamespacedResourceQuota({ namespace, name });
    await any.start(wanted, never);
    expect(await any.look(wanted.id)).toMatchObject({ state: 'running' });
    await any.remove(wanted.id);
  });
});
