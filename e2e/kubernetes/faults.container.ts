import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isEvent, resultOf, type Event } from '@belay/protocol';
import {
  type BelayServer,
  chosen,
  clusterServer,
  type Followed,
  run,
  script,
  start,
  TestCluster,
} from '@belay/testkit';
import { until } from '@belay/testing';

const isRun = (event: Event): boolean =>
  isEvent(event, 'result') && event.args.operation === 'terminal.run';

/** Ends or starts a part of the cluster: `kubelet`, `kube-apiserver`, or the `network` between pods and this machine. */
const control = chosen('BELAY_TEST_CLUSTER_CONTROL');
const change = (verb: 'stop' | 'start', part: string): void => {
  const { status, stderr } = spawnSync('sh', ['-c', `${control} ${verb} ${part}`], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
};

/** More than a cluster takes to give up a node by default. */
const lossTimeoutMs = 150_000;

const withControl = control === undefined ? it.skip : it;

/** How often the session's command ran, by what it has written. */
const onceIn = ({ events }: Followed): number =>
  resultOf(events.findLast(isRun)!, 'terminal.run')?.text.match(/once/g)?.length ?? 0;

describe('a cluster that fails', () => {
  let cluster: TestCluster;
  let server: BelayServer;
  /** The server, and after it others; the session is one of the last. */
  const used: BelayServer[] = [];
  let session: Followed;

  beforeAll(async () => {
    cluster = await TestCluster.open();
    server = clusterServer(cluster, cluster.nextPort());
    await server.start();
    used.push(server);
  });
  afterAll(async () => {
    await server.dispose();
    await cluster.remove();
  });
  afterEach(async () => {
    await used.at(-1)?.client.sessions.remove(session.id);
    session.close();
    for (const one of used.splice(1)) await one.dispose();
  });

  /** A session whose command has begun, and writes a line each second until there is a file `go`. */
  const begin = async () => {
    const work =
      'echo once >> ran; n=0; while [ ! -e go ]; do echo "line $((n=n+1))"; sleep 1; done; cat ran';
    const model = script(server.data, [{ calls: [run(work, { wait: 600 })] }, { finish: 'Done.' }]);
    session = await start(server, { task: 'Work', model });
    await session.event((event) => event.action === 'terminal.run');
  };
  const shown = () => server.client.sessions.get(session.id);
  const shows = (what: string, state: string) =>
    until(what, async () => (await shown()).state === state);
  const go = () =>
    server.client.sessions.call(session.id, 'files.write', { path: 'go', content: '' });

  /** A session whose command has written a file, and whose next one runs. */
  const write = async (on: BelayServer) => {
    const model = script(on.data, [
      { calls: [run('echo kept > kept.txt')] },
      { calls: [run('sleep 600', { wait: 600 })] },
      { finish: 'Done.' },
    ]);
    const begun = await start(on, { task: 'Work', model });
    const { seq } = await begun.event(isRun);
    await begun.event((event) => event.action === 'terminal.run', seq);
    return begun;
  };
  const keptFile = async () => {
    const input = { path: 'kept.txt' };
    return (await used.at(-1)!.client.sessions.call(session.id, 'files.read', input)).content;
  };
  const copyOf = ({ id }: Followed) => {
    const folder = join(server.data, 'copies', id);
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names.some((name) => name.includes('.steps.') && !name.endsWith('.part'));
  };
  /** False after a change of the node meanwhile. */
  const setAside = async (name: string) => {
    const node = await cluster.core.readNode({ name });
    const taints = node.spec?.taints ?? [];
    const taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
    const isGivenUp = taints.some(
      ({ key, effect }) => key === taint.key && effect === taint.effect,
    );
    if (node.spec && !isGivenUp) node.spec.taints = [...taints, taint];
    return cluster.core.replaceNode({ name, body: node }).catch(() => false);
  };
  const isRestored = (event: Event) => isEvent(event, 'restored');
  const pods = async () => (await cluster.core.listNamespacedPod(cluster)).items;
  const claims = async () =>
    (await cluster.core.listNamespacedPersistentVolumeClaim(cluster)).items;

  it('by the eviction of a pod that has its files says so, and has a copy of its last step', async () => {
    const inPods = clusterServer(cluster, cluster.nextPort(), { BELAY_FILES: 'pods' });
    used.push(inPods);
    await inPods.start();
    session = await write(inPods);
    const [pod] = await pods();
    const { name = '', namespace = '' } = pod?.metadata ?? {};
    const body = { metadata: { name, namespace } };
    await cluster.core.createNamespacedPodEviction({ name, namespace, body });
    const end = await session.ended();
    expect(end.message).toMatch(/its node is needed otherwise\. Its files went with it/);
    await inPods.client.sessions.message(session.id, { text: 'Go on.' });
    const restored = await session.event(isRestored, end.seq);
    expect(restored.message).toContain('put back from the server’s copy of step');
    await session.finished(end.seq);
    expect(await keptFile()).toContain('kept');
  });

  withControl(
    'by the loss of a node says so, removes sessions there, and puts others back elsewhere',
    async () => {
      const removed = await write(server);
      session = await write(server);
      await until('the copy of its step', () => copyOf(session));
      const shownOf = ({ id }: Followed) => server.client.sessions.get(id);
      const [pod] = await pods();
      change('stop', 'kubelet');
      let isAway = true;
      const back = () => {
        if (isAway) change('start', 'kubelet');
        isAway = false;
      };
      try {
        // The cluster does so itself, unless all of its nodes are away.
        await until('the node is given up', () => setAside(pod?.spec?.nodeName ?? ''));
        for (const one of [removed, session])
          await until(
            'the cluster gives up the node',
            async () => (await shownOf(one)).state === 'failed',
            { timeoutMs: lossTimeoutMs },
          );
        expect((await shownOf(session)).reason).toMatch(/its node does not respond/);
        // Nothing but the node may say that what ran there has ended.
        expect(await pods()).toHaveLength(2);
        await server.client.sessions.remove(removed.id);
        removed.close();
        expect(await pods()).toHaveLength(1);
        expect(await claims()).toHaveLength(1);
        await server.client.sessions.message(session.id, { text: 'Go on.' });
        await until('its next pod waits for a node', async () => (await pods()).length === 2);
        back();
        await session.event(isRestored);
        await until('it goes on', async () => (await shown()).state === 'finished');
        expect(await keptFile()).toContain('kept');
        await until('the files on the lost node are removed', async () => {
          return (await claims()).length === 1 && (await pods()).length === 1;
        });
      } finally {
        back();
      }
    },
  );

  it('by the end of a pod says so, and the session goes on with its files when it is restarted', async () => {
    await begin();
    const [pod] = (await cluster.core.listNamespacedPod({ namespace: cluster.namespace })).items;
    const { name = '', namespace = '' } = pod?.metadata ?? {};
    await cluster.core.deleteNamespacedPod({ name, namespace });
    const end = await session.ended();
    expect(JSON.stringify(end.args)).toMatch(/was (killed|deleted|removed)/);
    await server.client.sessions.message(session.id, { text: 'Go on.' });
    await session.ended(end.seq);
    const input = { path: 'ran' };
    const ran = await server.client.sessions.call(session.id, 'files.read', input);
    expect(ran.content.match(/once/g)).toHaveLength(1);
  });

  withControl('by the end of its kubelet does not disturb a session', async () => {
    await begin();
    change('stop', 'kubelet');
    try {
      await go();
      await session.finished();
    } finally {
      change('start', 'kubelet');
    }
    expect(onceIn(session)).toBe(1);
  });

  withControl('by its network shows it, and loses and repeats nothing', async () => {
    await begin();
    change('stop', 'network');
    try {
      await shows('the sandbox cannot be reached', 'waiting');
      expect((await shown()).reason).toMatch(/^Its sandbox cannot be reached/);
    } finally {
      change('start', 'network');
    }
    await shows('it is back', 'running');
    await go();
    await session.finished();
    expect(onceIn(session)).toBe(1);
  });

  withControl(
    'by its API server does not disturb a session, and starts others when it is back',
    async () => {
      await begin();
      const first = session;
      change('stop', 'kube-apiserver');
      try {
        await go();
        await first.finished();
        const model = script(server.data, [{ finish: 'Done.' }]);
        session = await start(server, { task: 'Begin', model });
        const end = await session.ended();
        expect(end.message).toContain('Kubernetes does not respond');
      } finally {
        change('start', 'kube-apiserver');
      }
      await until('the cluster responds', async () =>
        (await server.client.server.checks()).every(({ ok }) => ok),
      );
      await server.client.sessions.message(session.id, { text: 'Go on.' });
      await session.finished();
      await server.client.sessions.remove(first.id);
      first.close();
    },
  );
});
