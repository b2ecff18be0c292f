import { spawnSync } from 'node:child_process';
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

const withControl = control === undefined ? it.skip : it;

/** How often the session's command ran, by what it has written. */
const onceIn = ({ events }: Followed): number =>
  resultOf(events.findLast(isRun)!, 'terminal.run')?.text.match(/once/g)?.length ?? 0;

describe('a cluster that fails', () => {
  let cluster: TestCluster;
  let server: BelayServer;
  let session: Followed;

  beforeAll(async () => {
    cluster = await TestCluster.open();
    server = clusterServer(cluster, cluster.nextPort());
    await server.start();
  });
  afterAll(async () => {
    await server.dispose();
    await cluster.remove();
  });
  afterEach(async () => {
    await server.client.sessions.remove(session.id);
    session.close();
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
