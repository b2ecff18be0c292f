import { isEvent, resultOf, type Event } from '@belay/protocol';
import {
  type BelayServer,
  chosen,
  clusterServer,
  type Followed,
  metricsOnFreePort,
  run,
  script,
  start,
  TestCluster,
  untilWarm,
} from '@belay/testkit';
import { until } from '@belay/testing';
import { counting, endCounting, expectCountedOnce } from '../system/counting.js';
import {
  agentPods,
  claimNames,
  killPod,
  podId,
  sandboxIds,
  untilEmpty,
} from './namespace-objects.js';

const isRun = (event: Event): boolean =>
  isEvent(event, 'result') && event.args.operation === 'terminal.run';

/** The cluster has the controller of kubernetes-sigs/agent-sandbox. */
const isInstalled = chosen('BELAY_TEST_AGENT_SANDBOX') === 'true';

(isInstalled ? describe : describe.skip)('sessions in pods that agent-sandbox makes', () => {
  let cluster: TestCluster;
  let server: BelayServer;
  let port: number;

  beforeAll(async () => {
    cluster = await TestCluster.open({ agentSandbox: true });
    port = cluster.nextPort();
    server = clusterServer(cluster, port, { BELAY_AGENT_SANDBOX: 'true' });
    await server.start();
  });
  afterAll(async () => {
    await server.dispose();
    await cluster.remove();
  });

  const remove = async (session: Followed) => {
    session.close();
    await server.client.sessions.remove(session.id);
    await until('its object is removed', async () => (await sandboxIds(cluster)).length === 0);
    await untilEmpty(cluster);
  };

  it('work, stop, go on with their files, and leave nothing behind', async () => {
    const model = script(server.data, [
      { calls: [run('echo kept > kept.txt')] },
      { calls: [{ operation: 'ask', input: { question: 'Go on?' } }] },
      { calls: [run('cat kept.txt')] },
      { finish: 'Done.' },
    ]);
    const session = await start(server, { task: 'Write', model });
    await session.state('waiting');
    expect(await sandboxIds(cluster)).toHaveLength(1);
    const [pod] = await agentPods(cluster);
    expect(pod?.metadata?.ownerReferences).toMatchObject([{ kind: 'Sandbox' }]);
    await server.client.sessions.stop(session.id);
    const { seq } = await session.state('stopped');
    await until('its pod is gone', async () => (await agentPods(cluster)).length === 0);
    expect(await sandboxIds(cluster)).toEqual([]);
    expect(await claimNames(cluster)).toHaveLength(1);
    await server.client.sessions.message(session.id, { text: 'Go on.' });
    await session.finished(seq);
    const seen = session.events.findLast(isRun)!;
    expect(resultOf(seen, 'terminal.run')?.text).toContain('kept');
    expect(await sandboxIds(cluster)).toHaveLength(1);
    await remove(session);
  });

  it('go on after a kill of the server, which adopts them', async () => {
    const model = script(server.data, [{ calls: [counting] }, { finish: 'Done.' }]);
    const session = await start(server, { task: 'Count', model });
    await session.printed('line 5');
    const before = await sandboxIds(cluster);
    const pods = (await agentPods(cluster)).map(podId);
    await server.end('SIGKILL');
    await server.start();
    session.follow();
    await endCounting(server, session);
    await expectCountedOnce(session);
    expect(await sandboxIds(cluster)).toEqual(before);
    expect((await agentPods(cluster)).map(podId)).toEqual(pods);
    await remove(session);
  });

  it('end where agent-sandbox has made another pod while no server was there', async () => {
    const work = 'echo once >> ran; echo begun; sleep 600';
    const model = script(server.data, [{ calls: [run(work, { wait: 600 })] }, { finish: 'Done.' }]);
    const session = await start(server, { task: 'Work', model });
    await session.printed('begun');
    const [pod] = await agentPods(cluster);
    await server.end('SIGKILL');
    await killPod(cluster, pod!);
    await until('another pod runs', async () => {
      const [other] = await agentPods(cluster);
      return other && podId(other) !== podId(pod!) && other.status?.phase === 'Running';
    });
    await server.start();
    session.follow();
    const end = await session.ended();
    expect(end.message).toMatch(/Its files are kept/);
    await until('its object is removed', async () => (await sandboxIds(cluster)).length === 0);
    await server.client.sessions.message(session.id, { text: 'Go on.' });
    await session.finished(end.seq);
    const ran = await server.client.sessions.call(session.id, 'files.read', { path: 'ran' });
    expect(ran.content.match(/once/g)).toHaveLength(1);
    await remove(session);
  });

  it('are taken from those that wait, which end with the server', async () => {
    const { variables, url } = await metricsOnFreePort();
    const pooled = clusterServer(cluster, cluster.nextPort(), {
      BELAY_AGENT_SANDBOX: 'true',
      BELAY_POOL: '1',
      ...variables,
    });
    try {
      await pooled.start();
      await untilWarm(pooled, 1, url);
      const [waiting] = await sandboxIds(cluster);
      const model = script(pooled.data, [{ finish: 'Done.' }]);
      const session = await start(pooled, { task: 'Begin', model });
      await session.finished();
      await untilWarm(pooled, 1, url);
      expect(await sandboxIds(cluster)).toHaveLength(2);
      expect(await sandboxIds(cluster)).toContain(waiting);
      session.close();
      await pooled.client.sessions.remove(session.id);
      await pooled.end();
      expect(await sandboxIds(cluster)).toEqual([]);
      await untilEmpty(cluster);
    } finally {
      await pooled.dispose();
    }
  });
});
