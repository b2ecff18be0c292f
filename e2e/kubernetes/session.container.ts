import {
  isEvent,
  resultOf,
  type Event,
  type OperationName,
  type OperationRequest,
} from '@belay/protocol';
import {
  type BelayServer,
  clusterCommand,
  clusterServer,
  idle,
  prepared,
  run,
  script,
  start,
  TestCluster,
} from '@belay/testkit';
import { until } from '@belay/testing';
import { serveInside } from '../system/serve-inside.js';
import { reachedWithoutPolicy } from './reached-without-policy.js';

const isRun = (event: Event): boolean =>
  isEvent(event, 'result') && event.args.operation === 'terminal.run';

const isAsked = (event: Event): boolean => isEvent(event, 'approval');

describe('a server whose sandboxes are pods', () => {
  let cluster: TestCluster;
  let server: BelayServer;
  let port: number;

  beforeAll(async () => {
    cluster = await TestCluster.open();
    port = cluster.nextPort();
    server = serverAt(port);
    await server.start();
  });
  afterAll(async () => {
    await server.dispose();
    await cluster.remove();
  });

  const serverAt = (at: number, more: Record<string, string> = {}) =>
    clusterServer(cluster, at, more);
  const pods = async () =>
    (await cluster.core.listNamespacedPod({ namespace: cluster.namespace })).items;

  it('refuses a second program with the agent’s token, which root of the sandbox can read', async () => {
    const { address } = cluster;
    const program = [
      "const { readFileSync } = require('node:fs');",
      "const read = (name) => readFileSync('/run/belay/' + name, 'utf8');",
      `const to = { host: '${address}', port: ${port}, ca: read('ca.pem') };`,
      "const socket = require('node:tls').connect(to);",
      "socket.on('data', (data) => { console.log(String(data).split('\\r')[0]); process.exit(); });",
      "const id = '00000000-0000-4000-8000-000000000000';",
      "const head = ['GET /agent HTTP/1.1', 'host: x', 'connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==', 'x-belay-agent: ' + id, 'authorization: Bearer ' + read('token')];",
      "socket.write(head.join('\\r\\n') + '\\r\\n\\r\\n');",
    ].join('\n');
    const dial = `cat > dial.cjs <<'EOF'\n${program}\nEOF\n/opt/belay/node dial.cjs`;
    const model = script(server.data, [{ calls: [run(dial)] }, { finish: 'Done.' }]);
    const session = await start(server, { task: 'Dial', model, sandbox: 'root' });
    const seen = await session.event(isRun);
    expect(resultOf(seen, 'terminal.run')?.text).toMatch(/HTTP\/1\.1 403/);
    // The agent itself goes on.
    await session.finished();
    await server.client.sessions.remove(session.id);
    session.close();
    await until('its pod is removed', async () => (await pods()).length === 0);
  });

  it('keeps files in pods that are told to, and puts them back from the copy of its steps', async () => {
    const inPods = serverAt(cluster.nextPort(), { BELAY_FILES: 'pods' });
    try {
      await inPods.start();
      const model = script(inPods.data, [
        { calls: [run('echo kept > kept.txt; mkdir node_modules; echo lost > node_modules/a')] },
        { calls: [run('echo never approved')] },
        { calls: [run('cat kept.txt; ls')] },
        { finish: 'Done.' },
      ]);
      const session = await start(inPods, { task: 'Write', model, approvals: 'ask' });
      const { sessions } = inPods.client;
      const approve = async (event: Event) =>
        sessions.answer(session.id, String(event.args['id']), { verdict: 'approved' });
      const first = await session.event(isAsked);
      await approve(first);
      await session.event((event) => isAsked(event) && event.seq > first.seq);
      const claims = await cluster.core.listNamespacedPersistentVolumeClaim(cluster);
      expect(claims.items).toEqual([]);
      await sessions.stop(session.id);
      const told = await session.event(({ message }) => message.includes('with its pod went'));
      expect(told.message).toContain('The server has a copy of its steps');
      await until('its pod is gone', async () => (await pods()).length === 0);
      await sessions.restart(session.id);
      const restored = await session.event((event) => isEvent(event, 'restored'));
      expect(restored.message).toContain('put back from the server’s copy of step');
      await approve(await session.event((event) => isAsked(event) && event.seq > restored.seq));
      const seen = await session.event((event) => isRun(event) && event.seq > restored.seq);
      expect(resultOf(seen, 'terminal.run')?.text).toMatch(/^kept\s+kept\.txt\s*$/);
      await sessions.remove(session.id);
      session.close();
      await until('its pod is removed', async () => (await pods()).length === 0);
    } finally {
      await inPods.dispose();
    }
  });

  it('has a browser beside images without Chromium, once it is used', async () => {
    const session = await idle(server, { image: prepared('BELAY_TEST_DEBIAN') });
    const call = <N extends OperationName>(operation: N, input: OperationRequest<N>) =>
      server.client.sessions.call(session.id, operation, input);
    const [pod] = await pods();
    expect(pod?.spec?.containers.map(({ name }) => name)).toEqual(['browser', 'first']);
    const content = '<title>Inside</title><h1>Served in the sandbox</h1>';
    await call('files.write', { path: 'page.html', content });
    await call('terminal.run', { command: serveInside, background: true });
    await session.until(() => session.terminal().includes('serving\r\n'), 'the page’s server');
    const opened = await call('browser.open', { url: 'http://localhost:8081/' });
    expect(opened).toMatchObject({ title: 'Inside' });
    expect(opened.text).toContain('Served in the sandbox');
    // It has the network of the pod, which is confined.
    await expect(call('browser.open', { url: `${server.url}/health` })).rejects.toThrow();
    await server.client.sessions.remove(session.id);
    session.close();
    await until('its pod is removed', async () => (await pods()).length === 0);
  });

  it('says what keeps it from starting a session', async () => {
    const checks = await server.client.server.checks();
    expect(checks.find(({ name }) => name === 'Rights in the namespace')).toMatchObject({
      ok: true,
    });
    const session = await start(server, {
      task: 'Begin',
      model: script(server.data, [{ finish: 'Done.' }]),
      image: 'belay/there-is-no-such-image:1',
    });
    const end = await session.ended();
    expect(JSON.stringify(end.args)).toContain('belay/there-is-no-such-image:1');
    session.close();
  });

  it('runs pods with the class, on the nodes and with the priority of its settings', async () => {
    const name = cluster.namespace;
    const classes = [
      { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name }, handler: 'runc' },
      {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name },
        value: 1,
      },
    ];
    const list = { apiVersion: 'v1', kind: 'List', items: classes };
    const scheduling = {
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: [{ key: 'agents', operator: 'Exists', effect: 'NoSchedule' }],
      priorityClassName: name,
    };
    const input = JSON.stringify(list);
    await clusterCommand('kubectl', ['create', '--filename', '-'], { input });
    const placing = serverAt(cluster.nextPort(), {
      BELAY_RUNTIME_CLASS: name,
      BELAY_POD_SCHEDULING: JSON.stringify(scheduling),
    });
    try {
      await placing.start();
      const session = await idle(placing);
      const [pod] = await pods();
      expect(pod?.spec).toMatchObject({
        ...scheduling,
        runtimeClassName: name,
        priority: 1,
        tolerations: expect.arrayContaining(scheduling.tolerations),
      });
      await placing.client.sessions.remove(session.id);
      session.close();
    } finally {
      await placing.dispose();
      await clusterCommand('kubectl', ['delete', '--filename', '-'], { input });
    }
  });

  it('says in the session that the cluster does not have the class of its setting', async () => {
    const wrong = serverAt(cluster.nextPort(), { BELAY_RUNTIME_CLASS: 'there-is-none' });
    try {
      await wrong.start();
      const model = script(wrong.data, [{ finish: 'Done.' }]);
      const session = await start(wrong, { task: 'Begin', model });
      const end = await session.ended();
      expect(end.args['reason']).toContain(
        'The cluster lacks a class that its pods are set to have (RuntimeClass "there-is-none" not found): make it, or name another one.',
      );
      session.close();
    } finally {
      await wrong.dispose();
    }
  });

  it('starts sessions without a policy that an administrator allows, and they say so', async () => {
    await cluster.removePolicy();
    const allowing = serverAt(cluster.nextPort(), { BELAY_ALLOW_UNCONFINED: 'true' });
    try {
      await allowing.start();
      const model = script(allowing.data, [{ finish: 'Done.' }]);
      const session = await start(allowing, { task: 'Begin', model });
      const running = await session.event(
        (event) => isEvent(event, 'state') && event.args.state === 'running',
      );
      const reason = String(running.args['reason']);
      expect(reason).toMatch(reachedWithoutPolicy);
      expect(reason).toContain(', which BELAY_ALLOW_UNCONFINED=true allows.');
      await session.finished();
      session.close();
    } finally {
      await allowing.dispose();
    }
  });
});
