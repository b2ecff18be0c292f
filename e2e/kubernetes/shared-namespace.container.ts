import type { V1Pod } from '@kubernetes/client-node';
import {
  clusterVariables,
  script,
  SharedServers,
  start,
  TestCluster,
  type Followed,
} from '@belay/testkit';
import { until } from '@belay/testing';
import { counting, endCounting, expectCountedOnce } from '../system/counting.js';
import { FrontOfAgents } from './front-of-agents.js';
import { beginSlowCall, countSeenBy, isSlowResult, mcpCounter, slowCalls } from './mcp-counter.js';
import { agentPods, podId, programPods, sessionOfPod } from './namespace-objects.js';

/** Where the servers listen for agents. */
const hosts = ['127.0.0.2', '127.0.0.3'] as const;

describe('two servers of a database with one namespace', () => {
  let cluster: TestCluster;
  let front: FrontOfAgents;
  let port: number;
  let servers: SharedServers;

  beforeAll(async () => {
    cluster = await TestCluster.open();
    port = cluster.nextPort();
    front = await FrontOfAgents.open({ host: cluster.address, port }, hosts);
  });
  afterAll(async () => {
    await front.close();
    await cluster.remove();
  });
  beforeEach(async () => {
    servers = new SharedServers({ ...clusterVariables(cluster, port), BELAY_POOL: '1' });
    await servers.startDatabase();
    for (const host of hosts) await servers.add({ environment: { BELAY_AGENT_HOST: host } });
    await servers.first.client.mcp.create(mcpCounter);
  });
  afterEach(() => servers.dispose());

  /** The ids of the servers as they are now, the first one leading. */
  const ids = async (): Promise<[string, string]> => {
    const lead = await servers.lead();
    return [lead, (await servers.ids()).find((id) => id !== lead) ?? ''];
  };
  const madeBy = (server: string) => (pod: V1Pod) =>
    pod.metadata?.labels?.['belay.server'] === server;
  /** The ids of a server’s pods: those of its sessions, the one that waits, and its MCP server. */
  const podsOf = async (server: string): Promise<string[]> =>
    [...(await agentPods(cluster)), ...(await programPods(cluster))]
      .filter(madeBy(server))
      .map(podId)
      .toSorted();
  const waiting = async (server: string): Promise<V1Pod | undefined> =>
    (await agentPods(cluster))
      .filter(madeBy(server))
      .find((pod) => sessionOfPod(pod) === undefined && pod.status?.phase === 'Running');

  /** Sessions of which each server has one, begun by `begin`. */
  async function oneAtEach(begin: () => Promise<Followed>): Promise<Map<string, Followed>> {
    const sessions = [await begin(), await begin()];
    const owners = await servers.owners();
    const byOwner = new Map(sessions.map((one) => [owners.get(one.id) ?? '', one]));
    expect(byOwner.size).toBe(2);
    return byOwner;
  }

  it('adopt the pods of their own sessions, and leave those of each other alone', async () => {
    const { first, second } = servers;
    const [one, two] = await ids();
    const sessions = await oneAtEach(async () => {
      const calls = [{ operation: 'mcp.counter.count', input: {} }];
      const model = script(first.data, [{ calls }, { calls: [counting] }, { finish: 'Done.' }]);
      // No other pod waits for such a session.
      return start(first, { task: 'Count', model, sandbox: 'root' });
    });
    const [ofFirst, ofSecond] = [sessions.get(one)!, sessions.get(two)!];
    for (const session of [ofFirst, ofSecond]) await session.printed('line 3');
    for (const id of [one, two])
      await until('each has one of each kind', async () => {
        return (await waiting(id)) && (await podsOf(id)).length === 3;
      });
    const sessionPod = async ({ id }: Followed): Promise<string | undefined> =>
      (await agentPods(cluster))
        .filter((pod) => sessionOfPod(pod) === id)
        .map(podId)
        .join();
    const podOfFirst = await sessionPod(ofFirst);
    const podOfSecond = await sessionPod(ofSecond);
    const kept = await podsOf(one);

    // The other one takes its session, and removes what nobody needs any more, for good.
    await second.end('SIGKILL');
    await until('what it has left is removed', async () => {
      return (await podsOf(two)).join() === podOfSecond;
    });
    await until('its session is taken over', async () => {
      return (await servers.owners()).get(ofSecond.id) === one;
    });
    expect(await podsOf(one)).toEqual(kept);

    // One that begins looks at what is there.
    await second.start();
    const again = await until('it is known', async () =>
      (await servers.ids()).find((id) => id !== one && id !== two),
    );
    await until('it has one that waits', () => waiting(again));
    expect(await podsOf(one)).toEqual(kept);
    expect(await podsOf(two)).toEqual([podOfSecond]);

    // It takes both sessions, and leads.
    const ofSecondNow = await podsOf(again);
    await first.end('SIGKILL');
    await until('it serves', () => second.client.sessions.get(ofFirst.id).catch(() => false));
    await until('what is left is removed', async () => {
      return (await podsOf(one)).join() === podOfFirst;
    });
    expect(await podsOf(two)).toEqual([podOfSecond]);
    expect(await podsOf(again)).toEqual(expect.arrayContaining(ofSecondNow));
    for (const session of [ofFirst, ofSecond]) {
      session.follow(second);
      await endCounting(second, session);
      await expectCountedOnce(session);
    }
    expect([await sessionPod(ofFirst), await sessionPod(ofSecond)]).toEqual([
      podOfFirst,
      podOfSecond,
    ]);
  });

  it('make no call again that a killed one had begun at an MCP server', async () => {
    const { first, second } = servers;
    const [one] = await ids();
    const sessions = await oneAtEach(() => beginSlowCall(first));
    const session = sessions.get(one)!;
    const other = [...sessions.values()].find(({ id }) => id !== session.id)!;
    await first.end('SIGKILL');
    await until('the other one serves', () =>
      second.client.sessions.get(session.id).catch(() => false),
    );
    for (const each of sessions.values()) each.follow(second);
    const result = await session.event(isSlowResult);
    expect(result.args).toMatchObject({
      ok: false,
      output: { message: expect.stringContaining('it may have taken effect') as string },
    });
    await session.finished();
    // Its own session’s call, which goes on, is the only one that its process has got.
    expect(await countSeenBy(session)).toBe(1);
    expect(await slowCalls(second, other)).toBe(1);
    expect(other.events.filter(isSlowResult)).toEqual([]);
    expect(session.events.filter(isSlowResult)).toHaveLength(1);
    for (const each of sessions.values()) {
      each.close();
      await second.client.sessions.remove(each.id);
    }
  });
});
