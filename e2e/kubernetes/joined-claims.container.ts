import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BelayServer,
  metricsOnFreePort,
  run,
  script,
  start,
  TestCluster,
  untilWarm,
  type Followed,
} from '@belay/testkit';
import { until } from '@belay/testing';
import { counting, endCounting, expectCountedOnce } from '../system/counting.js';
import { invite } from '../system/joined-machine.js';
import { JoinProcess } from '../system/join-process.js';
import { joinWithPods } from './join-with-pods.js';
import { agentPods, claimNames, podId, sessionOfPod, untilEmpty } from './namespace-objects.js';

// The account of the runner has the chart’s Role, with nothing for agent-sandbox.
describe('a machine whose pods have claims', () => {
  const home = mkdtempSync(join(tmpdir(), 'belay-claims-'));
  let cluster: TestCluster;
  let server: BelayServer;
  let metrics: string;
  let box: JoinProcess;
  let port: number;

  beforeAll(async () => {
    cluster = await TestCluster.open();
    port = cluster.nextPort();
    const { variables, url } = await metricsOnFreePort();
    metrics = url;
    // This server’s own engine has one, too.
    server = new BelayServer({ BELAY_POOL: '1', ...variables });
    await server.start();
    box = new JoinProcess(home, { KUBECONFIG: cluster.kubeconfig });
    const { token } = await invite(server, 'box');
    box.start(server.url, '--token', token, ...joinWithPods(cluster, port));
    await box.says('Connected as box');
  });
  afterAll(async () => {
    await box.end('SIGTERM');
    await server.dispose();
    await cluster.remove();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });

  const rejoin = async () => {
    await box.end('SIGKILL');
    box.start(server.url, ...joinWithPods(cluster, port));
    await box.says('Connected as box');
  };
  const remove = async (session: Followed) => {
    session.close();
    await server.client.sessions.remove(session.id);
  };
  const hostOf = async ({ id }: Followed): Promise<string> => {
    const input = { command: 'cat /proc/sys/kernel/hostname' };
    return (await server.client.sessions.call(id, 'terminal.run', input)).text.trim();
  };

  it('goes on with all of them after a kill of “belay join”, and nothing runs twice', async () => {
    await untilWarm(server, 2, metrics);
    const model = script(server.data, [
      { calls: [run('echo once >> ran')] },
      { calls: [counting] },
      { finish: 'Done.' },
    ]);
    // No other pod waits for such a session.
    const session = await start(server, { task: 'Count', model, machine: 'box', sandbox: 'root' });
    await session.printed('line 5');
    const before = await agentPods(cluster);
    expect(new Set(before.map(sessionOfPod))).toEqual(new Set([session.id, undefined]));
    expect(await claimNames(cluster)).toHaveLength(2);
    await rejoin();
    await box.says(`Session ${session.id} is still running here.`);
    expect(box.output.match(/is still running here/g)).toHaveLength(1);
    await endCounting(server, session);
    await expectCountedOnce(session);
    expect((await agentPods(cluster)).map(podId)).toEqual(before.map(podId));
    const ran = await server.client.sessions.call(session.id, 'files.read', { path: 'ran' });
    expect(ran.content).toBe('once\n');

    // The pod that waited does so still, and the next session takes it.
    await untilWarm(server, 2, metrics);
    const waiting = before.find((pod) => sessionOfPod(pod) === undefined);
    const next = script(server.data, [{ finish: 'Done.' }]);
    const second = await start(server, { task: 'Begin', model: next, machine: 'box' });
    await second.finished();
    expect(await hostOf(second)).toBe(waiting?.metadata?.name);
    await remove(session);
    await remove(second);
    await until('one waits, with its files', async () => {
      return (await agentPods(cluster)).length === 1 && (await claimNames(cluster)).length === 1;
    });
  });

  it('keeps the files of a session that is stopped, and goes on with them', async () => {
    const model = script(server.data, [
      { calls: [run('mkdir -p node_modules; echo kept > node_modules/kept.txt')] },
      { calls: [{ operation: 'ask', input: { question: 'Go on?' } }] },
      { calls: [run('cat node_modules/kept.txt > seen.txt')] },
      { finish: 'Done.' },
    ]);
    const session = await start(server, { task: 'Write', model, machine: 'box' });
    await session.state('waiting');
    await server.client.sessions.stop(session.id);
    const { seq } = await session.state('stopped');
    await until('its pod is gone', async () => (await agentPods(cluster)).length === 1);
    await rejoin();
    await server.client.sessions.message(session.id, { text: 'Go on.' });
    await session.finished(seq);
    // Ignored files are in no copy of its steps.
    const seen = await server.client.sessions.call(session.id, 'files.read', { path: 'seen.txt' });
    expect(seen.content).toBe('kept\n');
    await remove(session);
  });

  it('leaves no pod when “belay join” ends, and nothing after “belay leave”', async () => {
    const model = script(server.data, [{ finish: 'Done.' }]);
    const session = await start(server, { task: 'Begin', model, machine: 'box' });
    await session.finished();
    await box.end('SIGTERM');
    expect(await agentPods(cluster)).toEqual([]);
    expect((await claimNames(cluster)).length).toBeGreaterThan(0);
    box.leave(server.url, '--yes');
    await box.ended();
    expect(box.output).toMatch(/with 0 pods and \d claims? in /);
    await untilEmpty(cluster);
    session.close();
  });
});
