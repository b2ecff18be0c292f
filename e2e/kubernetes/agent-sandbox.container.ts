import type { ContainerHost } from '@belay/containers';
import { chosen, TestCluster } from '@belay/testkit';
import { until } from '@belay/testing';
import { asFirstProgram } from '../system/hosts/first-program.js';
import { HostUser, never } from '../system/hosts/host-user.js';
import { openPodHost, podSpec } from './pod-host.js';

/** The cluster has the controller of kubernetes-sigs/agent-sandbox. */
const isInstalled = chosen('BELAY_TEST_AGENT_SANDBOX') === 'true';

describe('pods that agent-sandbox makes', () => {
  let cluster: TestCluster;
  let host: ContainerHost;
  let user: HostUser;
  beforeAll(async () => {
    cluster = await TestCluster.open({ agentSandbox: true });
    host = await openPodHost(cluster, { agentSandbox: true });
    user = new HostUser(host);
    await user.follow();
  });
  afterAll(async () => {
    await user.close();
    await cluster.remove();
  });
  const pods = async () =>
    (await cluster.core.listNamespacedPod({ namespace: cluster.namespace })).items;
  const secrets = async () =>
    (await cluster.core.listNamespacedSecret({ namespace: cluster.namespace })).items;

  const itInstalled = isInstalled ? it : it.skip;

  itInstalled('run as others, and go with everything of theirs', async () => {
    expect((await host.checks()).filter(({ ok }) => !ok)).toEqual([]);
    const spec = podSpec({ env: asFirstProgram });
    await host.start(spec, never);
    const program = await user.program(spec.id);
    expect(await program.run('return process.env.BELAY_WORKSPACE')).toBe('/workspace');
    const [pod] = await pods();
    expect(pod?.metadata?.ownerReferences).toMatchObject([{ kind: 'Sandbox' }]);
    const { items } = await cluster.policies();
    expect(items.map(({ metadata }) => metadata?.name)).toEqual(['belay']);
    await host.remove(spec.id);
    await until('nothing of it is left', async () =>
      [...(await pods()), ...(await secrets())].length === 0 ? true : undefined,
    );
    await host.removeFiles(spec.files);
  });

  itInstalled('are gone once somebody deletes them, and do not come back', async () => {
    const spec = podSpec({ env: asFirstProgram });
    await host.start(spec, never);
    await user.program(spec.id);
    const { namespace } = cluster;
    const [pod] = await pods();
    await cluster.core.deleteNamespacedPod({ namespace, name: pod?.metadata?.name ?? '' });
    await user.sees(spec.id, 'gone');
    await until('no other pod is there', async () => (await pods()).length === 0);
    expect(await host.look(spec.id)).toMatchObject({ state: 'gone' });
  });

  (isInstalled ? it.skip : it)(
    'are refused with what is missing where it is not installed',
    async () => {
      await expect(host.start(podSpec(), never)).rejects.toThrow(
        'The cluster has no Sandbox objects: install kubernetes-sigs/agent-sandbox, or make pods without it.',
      );
      expect(await pods()).toEqual([]);
    },
  );
});
