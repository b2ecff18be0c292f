import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OperationName, OperationRequest } from '@belay/protocol';
import { describeSystem, idle, TestCluster } from '@belay/testkit';
import { until } from '@belay/testing';
import { invite } from '../system/joined-machine.js';
import { JoinProcess } from '../system/join-process.js';
import { joinWithPods } from './join-with-pods.js';

describeSystem('a machine whose containers are pods', (server) => {
  const home = mkdtempSync(join(tmpdir(), 'belay-pods-'));
  let cluster: TestCluster;
  let box: JoinProcess;
  beforeAll(async () => {
    cluster = await TestCluster.open();
    box = new JoinProcess(home, { KUBECONFIG: cluster.kubeconfig });
  });
  afterAll(async () => {
    await box.end('SIGTERM');
    await cluster.remove();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });
  const options = () => [...joinWithPods(cluster, cluster.nextPort()), '--pod-files'];
  const pods = async () =>
    (await cluster.core.listNamespacedPod({ namespace: cluster.namespace })).items;

  it('runs sessions of the server there, and leaves nothing behind', async () => {
    const { token } = await invite(server, 'box');
    box.start(server.url, '--token', token, ...options());
    await box.says('Connected as box');
    const session = await idle(server, { machine: 'box' });
    const call = <N extends OperationName>(operation: N, input: OperationRequest<N>) =>
      server.client.sessions.call(session.id, operation, input);
    const seen = await call('terminal.run', {
      command: 'id -u; (echo > /dev/tcp/$KUBERNETES_SERVICE_HOST/443) 2>/dev/null || echo closed',
    });
    expect(seen.text).toMatch(/^1000\s+closed\s*$/);
    expect((await pods()).length).toBeGreaterThan(0);
    await server.client.sessions.remove(session.id);
    session.close();
    await box.end('SIGTERM');
    await until('all pods are removed', async () => (await pods()).length === 0);
    box.leave(server.url, '--yes');
    await box.ended();
    expect(box.output).toContain(`with 0 pods and 0 claims in ${cluster.namespace}`);
  });

  it('does not join with pods that nothing confines', async () => {
    await cluster.removePolicy();
    const { token } = await invite(server, 'open');
    box.start(server.url, '--token', token, ...options());
    await box.ended();
    expect(box.output).toMatch(/can connect to .*or allow it with --allow-unconfined/s);
    expect(box.child.exitCode).not.toBe(0);
    expect(await pods()).toEqual([]);
  });
});
