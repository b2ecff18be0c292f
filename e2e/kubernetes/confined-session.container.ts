import { isEvent, resultOf, type Event } from '@belay/protocol';
import { type BelayServer, clusterServer, run, script, start, TestCluster } from '@belay/testkit';
import { until } from '@belay/testing';
import { reachedWithoutPolicy, withoutPolicy } from './reached-without-policy.js';

const isRun = (event: Event): boolean =>
  isEvent(event, 'result') && event.args.operation === 'terminal.run';

const isAsked = (event: Event): boolean => isEvent(event, 'approval');

// The part of the tests with a cluster that CI runs.
describe('a server whose pods are confined', () => {
  let cluster: TestCluster;
  let server: BelayServer;

  beforeAll(async () => {
    cluster = await TestCluster.open();
    server = clusterServer(cluster, cluster.nextPort());
    await server.start();
  });
  afterAll(async () => {
    await server.dispose();
    await cluster.remove();
  });

  const pods = async () =>
    (await cluster.core.listNamespacedPod({ namespace: cluster.namespace })).items;

  it('runs a session that is confined, and adopts it after a restart', async () => {
    const look = [
      'id -u; touch /usr/x; echo still',
      'env | grep -c BELAY',
      'cat /run/belay/token',
      'for port in 443 6443; do (echo > /dev/tcp/$KUBERNETES_SERVICE_HOST/$port) 2>/dev/null && echo "open $port"; done',
      'ls /var/run/secrets 2>/dev/null; echo kept > kept.txt; echo done',
    ].join('; ');
    const model = script(server.data, [
      { calls: [run(look)] },
      { calls: [run('cat kept.txt')] },
      { finish: 'Done.' },
    ]);
    const session = await start(server, { task: 'Look around', model, approvals: 'ask' });
    const approve = async (event: Event) =>
      server.client.sessions.answer(session.id, String(event.args['id']), { verdict: 'approved' });
    await approve(await session.event(isAsked));
    const seen = await session.event(isRun);
    const text = resultOf(seen, 'terminal.run')?.text ?? '';
    expect(text).toMatch(/^1000\s+touch: .*Read-only file system\s+still\s+0\s/);
    expect(text).toContain('/run/belay/token: Permission denied');
    expect(text).not.toContain('open ');
    expect(text.trim().endsWith('done')).toBe(true);
    await session.state('waiting');
    const [pod] = await pods();
    expect(pod?.spec?.automountServiceAccountToken).toBe(false);
    expect(pod?.metadata?.annotations?.['belay.label']).toContain(session.id);

    const second = await session.event((event) => isAsked(event) && event.seq > seen.seq);
    await server.end('SIGKILL');
    await server.start();
    session.follow();
    await approve(second);
    const kept = await session.event((event) => isRun(event) && event.seq > second.seq);
    expect(resultOf(kept, 'terminal.run')?.text).toContain('kept');
    await session.finished();
    expect((await pods()).map(({ metadata }) => metadata?.uid)).toContain(pod?.metadata?.uid);
    await server.client.sessions.remove(session.id);
    session.close();
    await until('its pod is removed', async () => (await pods()).length === 0);
  });

  it('starts no session without a policy, and says what its pods could reach', async () => {
    const end = async () => {
      const model = script(server.data, [{ finish: 'Done.' }]);
      const session = await start(server, { task: 'Begin', model });
      const { args } = await session.ended();
      session.close();
      return JSON.stringify(args);
    };
    const network = async () => {
      const checks = await server.client.server.checks();
      return checks.find(({ name }) => name === 'Network of pods');
    };
    const closed = await network();
    expect(closed).toMatchObject({ ok: true, remedy: null });
    expect(closed?.detail).toMatch(new RegExp(`^Closed to pods: ${withoutPolicy}`));
    await cluster.removePolicy();
    // What was known is no longer true: each pod sees that itself.
    expect(await end()).toMatch(/pods can connect to .*NetworkPolicy/);
    const open = await network();
    expect(open).toMatchObject({
      ok: false,
      remedy: expect.stringContaining('Apply the NetworkPolicy') as string,
    });
    expect(open?.detail).toMatch(reachedWithoutPolicy);
    expect(await end()).toMatch(reachedWithoutPolicy);
    await until('all pods are removed', async () => (await pods()).length === 0);
  });
});
