import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { isEvent } from '@belay/protocol';
import { type BelayServer, clusterServer, run, script, start, TestCluster } from '@belay/testkit';
import { until } from '@belay/testing';
import { agentPods, untilEmpty } from './namespace-objects.js';

/** More than a pod may wait for a node. */
const startTimeoutMs = 200_000;

describe('a session whose volume is on a node that the cluster does not have any more', () => {
  let cluster: TestCluster;
  let server: BelayServer;
  const volume = () => `gone-${cluster.namespace}`;

  beforeAll(async () => {
    cluster = await TestCluster.open();
    server = clusterServer(cluster, cluster.nextPort());
    await server.start();
  });
  afterAll(async () => {
    await server.dispose();
    await cluster.core.deletePersistentVolume({ name: volume() }).catch(() => {});
    await cluster.remove();
  });

  const claims = async (): Promise<V1PersistentVolumeClaim[]> => {
    const { namespace } = cluster;
    return (await cluster.core.listNamespacedPersistentVolumeClaim({ namespace })).items;
  };

  const waiting = async () => (await agentPods(cluster)).map(({ status }) => status?.conditions);

  /** Only its node would show what is in the volume. */
  const moveAway = async ({ metadata, spec }: V1PersistentVolumeClaim): Promise<void> => {
    const { core, namespace } = cluster;
    const { name = '', labels, annotations } = metadata ?? {};
    await core.deleteNamespacedPersistentVolumeClaim({ namespace, name });
    await until('the claim is gone', async () => (await claims()).length === 0);
    const key = 'kubernetes.io/hostname';
    await core.createPersistentVolume({
      body: {
        metadata: { name: volume() },
        spec: {
          storageClassName: 'of-a-lost-node',
          capacity: spec?.resources?.requests ?? {},
          accessModes: spec?.accessModes ?? [],
          local: { path: '/gone' },
          claimRef: { namespace, name },
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key, operator: 'In', values: ['gone'] }] },
              ],
            },
          },
        },
      },
    });
    const { accessModes, resources } = spec ?? {};
    await core.createNamespacedPersistentVolumeClaim({
      namespace,
      body: {
        metadata: { name, labels: { ...labels }, annotations: { ...own(annotations) } },
        spec: {
          accessModes: accessModes ?? [],
          resources: { requests: resources?.requests ?? {} },
          storageClassName: 'of-a-lost-node',
          volumeName: volume(),
        },
      },
    });
    await until(
      'the claim has the volume',
      async () => (await claims())[0]?.status?.phase === 'Bound',
    );
  };

  it('goes on with the copy of its last step, and the volume is given up', async () => {
    const model = script(server.data, [
      { calls: [run('echo kept > kept.txt')] },
      { calls: [{ operation: 'ask', input: { question: 'Go on?' } }] },
      { calls: [run('cat kept.txt > seen.txt')] },
      { finish: 'Done.' },
    ]);
    const session = await start(server, { task: 'Write', model });
    await session.state('waiting');
    const { sessions } = server.client;
    await sessions.stop(session.id);
    await until('its pod is gone', async () => (await agentPods(cluster)).length === 0);
    const [claim] = await claims();
    await moveAway(claim!);
    await sessions.message(session.id, { text: 'Go on.' });
    await until(
      'another volume is made',
      async () => (await claims()).some(({ spec }) => spec?.volumeName !== volume()),
      { timeoutMs: startTimeoutMs, state: async () => JSON.stringify(await waiting()) },
    );
    const restored = await session.event((event) => isEvent(event, 'restored'));
    expect(restored.message).toContain('put back from the server’s copy of step');
    await session.finished(restored.seq);
    const seen = await sessions.call(session.id, 'files.read', { path: 'seen.txt' });
    expect(seen.content).toBe('kept\n');
    await until('the volume is given up', async () => {
      const found = await claims();
      return found.length === 1 && found[0]?.spec?.volumeName !== volume();
    });
    await sessions.remove(session.id);
    session.close();
    await untilEmpty(cluster);
  });
});

/** Without those of the cluster, which tell of its own volume. */
const own = (annotations: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).filter(([key]) => key.startsWith('belay')));
