import { isEnded, isEvent, type Event } from '@belay/protocol';
import {
  type BelayServer,
  clusterServer,
  Followed,
  run,
  script,
  start,
  TestCluster,
} from '@belay/testkit';
import { until } from '@belay/testing';
import { eventNumbers, gaplessNumbers } from '../system/event-numbers.js';
import { beginSlowCall, countSeenBy, isSlowResult, mcpCounter } from './mcp-counter.js';
import { agentPods, killPod, programPods, untilEmpty } from './namespace-objects.js';

/** Within this time, a session must say what became of its sandbox. */
const shownTimeoutMs = 10_000;

const isCall = (event: Event): boolean => event.action === 'terminal.run';
const isResult = (event: Event): boolean =>
  isEvent(event, 'result') && event.args.operation === 'terminal.run';

describe('a pod that is killed with no time to end', () => {
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

  it('loses nothing that was acknowledged, and what ran in it does not run again', async () => {
    const work = 'echo once >> ran; n=0; while :; do echo "line $((n=n+1))"; sleep 0.1; done';
    const model = script(server.data, [
      { calls: [run('echo first'), run('echo second > made.txt')] },
      { calls: [run(work, { wait: 600 })] },
      { finish: 'Done.' },
    ]);
    const session = await start(server, { task: 'Work', model });
    await session.printed('line 20');
    const [pod] = await agentPods(cluster);
    const before = [...session.events];
    const printed = session.terminal();
    await killPod(cluster, pod!);
    const shown = () => server.client.sessions.get(session.id);
    await until('its end is shown', async () => isEnded((await shown()).state), {
      timeoutMs: shownTimeoutMs,
      state: async () => JSON.stringify(await shown()),
    });
    expect(await shown()).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(
        /^The sandbox.* was (removed|deleted in the cluster)\. Its files are kept\./,
      ) as string,
    });
    const end = await session.ended();
    expect(session.events.slice(0, before.length)).toEqual(before);
    expect(eventNumbers(session)).toEqual(gaplessNumbers(session));

    await server.client.sessions.message(session.id, { text: 'Go on.' });
    await session.finished(end.seq);
    // As everybody else sees it who looks from the beginning.
    const stored = new Followed(server, session.id);
    await stored.finished(end.seq);
    expect(stored.events).toEqual(session.events);
    expect(eventNumbers(stored)).toEqual(gaplessNumbers(stored));
    expect(stored.events.slice(0, before.length)).toEqual(before);
    await stored.printed(printed);
    expect(stored.terminal().startsWith(printed)).toBe(true);
    const calls = stored.events.filter(isCall).map(({ id }) => id);
    expect(calls).toHaveLength(3);
    expect(stored.events.filter(isResult).map(({ id }) => id)).toEqual(calls);
    const read = async (path: string) =>
      (await server.client.sessions.call(session.id, 'files.read', { path })).content;
    expect(await read('ran')).toBe('once\n');
    expect(await read('made.txt')).toBe('second\n');
    for (const one of [session, stored]) one.close();
    await server.client.sessions.remove(session.id);
    await untilEmpty(cluster);
  });

  it('of an MCP server fails the calls there, which are not made again', async () => {
    await server.client.mcp.create(mcpCounter);
    const session = await beginSlowCall(server);
    const [pod, ...more] = await programPods(cluster);
    expect(more).toEqual([]);
    await killPod(cluster, pod!);
    const result = await session.event(isSlowResult);
    expect(result.args).toMatchObject({ ok: false });
    await session.finished();
    // By another pod, in which the call would have been the first one.
    expect(await countSeenBy(session)).toBe(0);
    session.close();
    await server.client.sessions.remove(session.id);
    await server.client.mcp.remove(mcpCounter.name);
    await until('its pod is removed', async () => (await programPods(cluster)).length === 0);
  });
});
