import { isEvent, resultOf, type Event } from '@belay/protocol';
import {
  type BelayServer,
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
import { eventNumbers, gaplessNumbers } from '../system/event-numbers.js';
import { agentPods, claimNames, podId, sessionOfPod, untilEmpty } from './namespace-objects.js';

const isRun = (event: Event): boolean =>
  isEvent(event, 'result') && event.args.operation === 'terminal.run';

/** What programs see of their sandbox beside its image. */
const look = [
  'id; pwd; env | sort',
  "find /workspace /tmp /var/tmp /run /dev/shm $HOME -printf '%M %u %p\\n' 2>/dev/null | sort",
  "cut -d' ' -f2-3 /proc/mounts | sort",
].join('; ');

/** Without the names of a pod, of the versions of its secret, and its port for egress. */
const common = (text: string): string =>
  text
    .replaceAll(/belay(-[0-9a-f]{8,})+/g, 'POD')
    .replaceAll(/\.\.\d{4}_[\d_.]+/g, '..VERSION')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'EGRESS');

describe('pods that wait for a session', () => {
  let cluster: TestCluster;
  let server: BelayServer;
  let metrics: string;
  let port: number;

  beforeAll(async () => {
    cluster = await TestCluster.open();
    port = cluster.nextPort();
    const { variables, url } = await metricsOnFreePort();
    metrics = url;
    server = clusterServer(cluster, port, { BELAY_POOL: '1', ...variables });
    await server.start();
  });
  afterAll(async () => {
    await server.dispose();
    await cluster.remove();
  });

  const podIds = async () => (await agentPods(cluster)).map(podId);
  const lookAt = async (through: BelayServer): Promise<Followed> => {
    const model = script(through.data, [
      { calls: [run(look)] },
      { calls: [{ operation: 'ask', input: { question: 'Go on?' } }] },
      { finish: 'Done.' },
    ]);
    const session = await start(through, { task: 'Look around', model });
    await session.state('waiting');
    return session;
  };
  const hostOf = async ({ id }: Followed): Promise<string> => {
    const input = { command: 'cat /proc/sys/kernel/hostname' };
    return (await server.client.sessions.call(id, 'terminal.run', input)).text.trim();
  };
  const seenBy = ({ events }: Followed): string =>
    common(resultOf(events.find(isRun)!, 'terminal.run')?.text ?? '');

  it('are taken by sessions, which do not see that they have waited, and are made anew', async () => {
    await untilWarm(server, 1, metrics);
    const [waiting] = await agentPods(cluster);
    const session = await lookAt(server);
    expect(await hostOf(session)).toBe(waiting?.metadata?.name);
    expect(eventNumbers(session)).toEqual(gaplessNumbers(session));
    await untilWarm(server, 1, metrics);
    const pods = await agentPods(cluster);
    expect(pods).toHaveLength(2);
    expect(pods.map(podId)).toContain(waiting?.metadata?.uid);
    expect(pods.map(sessionOfPod)).toEqual([undefined, undefined]);

    const other = clusterServer(cluster, cluster.nextPort());
    try {
      await other.start();
      const cold = await lookAt(other);
      expect(seenBy(cold)).toContain('HOME=');
      expect(seenBy(session)).toBe(seenBy(cold));
      cold.close();
      await other.client.sessions.remove(cold.id);
    } finally {
      await other.dispose();
    }

    // Its files are those that waited with the pod.
    const file = { path: 'kept.txt', content: 'kept' };
    await server.client.sessions.call(session.id, 'files.write', file);
    await server.client.sessions.stop(session.id);
    const { seq } = await session.state('stopped');
    await until('its pod is gone', async () => {
      return !(await podIds()).includes(podId(waiting!));
    });
    await server.client.sessions.message(session.id, { text: 'Go on.' });
    await session.finished(seq);
    const kept = await server.client.sessions.call(session.id, 'files.read', { path: file.path });
    expect(kept.content).toBe('kept');
    expect((await agentPods(cluster)).map(sessionOfPod)).toContain(session.id);
    session.close();
    await server.client.sessions.remove(session.id);
    await until('one waits, with its files', async () => {
      return (await podIds()).length === 1 && (await claimNames(cluster)).length === 1;
    });
  });

  it('end with their server, and what a killed one has left ends when fewer are wanted', async () => {
    await untilWarm(server, 1, metrics);
    const session = await lookAt(server);
    const name = await hostOf(session);
    const own = (await agentPods(cluster)).find(({ metadata }) => metadata?.name === name)!;
    await untilWarm(server, 1, metrics);
    await server.end();
    expect(await podIds()).toEqual([podId(own)]);
    expect(await claimNames(cluster)).toHaveLength(1);

    await server.start();
    await untilWarm(server, 1, metrics);
    await server.end('SIGKILL');
    expect(await podIds()).toHaveLength(2);
    const smaller = clusterServer(cluster, port, { BELAY_POOL: '0', BELAY_DATA: server.data });
    try {
      await smaller.start();
      await until('none waits', async () => {
        return (await podIds()).length === 1 && (await claimNames(cluster)).length === 1;
      });
      expect(await podIds()).toEqual([podId(own)]);
      const input = { command: 'cat /proc/sys/kernel/hostname' };
      const again = await until('its agent is back', () =>
        smaller.client.sessions.call(session.id, 'terminal.run', input).catch(() => undefined),
      );
      expect(again.text.trim()).toBe(name);
      session.close();
      await smaller.client.sessions.remove(session.id);
      await untilEmpty(cluster);
    } finally {
      await smaller.dispose();
    }
  });
});
