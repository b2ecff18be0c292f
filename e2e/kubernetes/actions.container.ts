import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { clusterServer, idle, TestCluster, type BelayServer } from '@belay/testkit';
import { ActionBench } from '../system/action-bench.js';
import { writeMcpCounter } from '../system/write-mcp-counter.js';

/** Makes a program, takes a file of the image away, and leaves one that belongs to the programs’ user. */
const setup = `#!/bin/sh
set -e
printf '#!/bin/sh\\necho "made by $(cat /opt/made/by)"\\n' > /usr/local/bin/made
chmod 755 /usr/local/bin/made
mkdir /opt/made && echo the set-up > /opt/made/by && chown 1000:1000 /opt/made/by
rm /etc/debian_version
touch made-here
echo set up
`;

const run = `#!/bin/sh
made
ls /etc/debian_version 2>/dev/null
stat -c %u /opt/made/by /action/made-here
for path in /usr/local/bin/made /action/run /etc/new /opt/belay/new /run/belay/token; do
  (echo > $path) 2>/dev/null && echo "wrote $path"
done
cat /run/belay/token 2>/dev/null
id -u
grep CapEff /proc/self/status
echo kept > /output/file.txt
`;

/** Asks the service, which runs in the same image. */
const asks = `#!/bin/sh
exec node -e 'fetch("http://teller:8099").then((r) => r.text()).then(console.log)'
`;
const teller = [
  'node',
  '-e',
  `const { execFileSync } = require('node:child_process');
   require('node:http').createServer((_, response) =>
     response.end(process.getuid() + ' ' + execFileSync('made'))).listen(8099);`,
];

describe('actions on a cluster', () => {
  let cluster: TestCluster;
  let server: BelayServer;
  let bench: ActionBench;

  beforeAll(async () => {
    cluster = await TestCluster.open();
    server = clusterServer(cluster, cluster.nextPort());
    await server.start();
    bench = new ActionBench(server);
    const permissions = { memory_mb: 128, workspace: 'none' };
    bench.write('maker', run, permissions, { base_image: undefined });
    bench.write('asker', asks, permissions, {
      base_image: undefined,
      services: { teller: { command: teller, port: 8099 } },
    });
    bench.write('breaker', run, permissions, { base_image: undefined });
    for (const name of ['maker', 'asker']) writeSetup(name, setup);
    writeSetup('breaker', '#!/bin/sh\necho oh; exit 3\n');
  });
  afterAll(async () => {
    bench.dispose();
    await server.dispose();
    await cluster.remove();
  });

  function writeSetup(name: string, script: string): void {
    const path = join(bench.folder, name, 'setup');
    writeFileSync(path, script);
    chmodSync(path, 0o755);
  }
  const noPods = () =>
    until('its pods are removed', async () => {
      const { namespace } = cluster;
      return (await cluster.core.listNamespacedPod({ namespace })).items.length === 0;
    });

  it('are set up once, and called with what the set-up has made and no rights over it', async () => {
    const installed = await bench.installed('maker', 'asker');
    expect({ ...installed }).toMatchObject({ state: 'done' });
    expect(installed['lines']).toContain('[maker] set up');
    const output = await bench.direct('maker', {});
    expect(output).toMatchObject({
      exitCode: 0,
      text: 'made by the set-up\n1000\n0\n1000\nCapEff:\t0000000000000000\n',
      files: [{ name: 'file.txt' }],
    });
    const again = await bench.installed('maker');
    expect(String(again['lines'])).toContain('already exists');
  });

  it('have services in their own image', async () => {
    const output = await bench.direct('asker', {});
    expect(output).toMatchObject({ exitCode: 0, text: '1000 made by the set-up\n\n' });
    await noPods();
  });

  it('work in the workspace of a session, also after a restart of the server', async () => {
    bench.write(
      'list',
      '#!/bin/sh\nls; made 2>&1; echo seen > seen.txt\n',
      {
        workspace: 'write',
      },
      { base_image: undefined },
    );
    writeSetup('list', setup);
    expect(await bench.installed('list')).toMatchObject({ state: 'done' });
    await server.end('SIGKILL');
    await server.start();
    const session = await idle(server, { approvals: 'auto', actions: ['list'] });
    const { sessions } = server.client;
    await sessions.call(session.id, 'files.write', { path: 'a.txt', content: 'a' });
    const path = `/api/sessions/${session.id}/operations/action.list`;
    expect(await bench.api('POST', path, {})).toMatchObject({
      exitCode: 0,
      text: 'a.txt\nmade by the set-up\n',
    });
    const seen = await sessions.call(session.id, 'files.read', { path: 'seen.txt' });
    expect(JSON.stringify(seen)).toContain('seen');
    await sessions.remove(session.id);
    session.close();
    await noPods();
  });

  it('may be MCP servers, each in a pod of its own, also after a restart of the server', async () => {
    writeMcpCounter(join(bench.folder, 'counter'));
    const installed = await bench.installed('counter');
    expect(installed).toMatchObject({ state: 'done' });
    expect(String(installed['lines'])).toContain('[counter] Its tools: look.');
    await server.end('SIGKILL');
    await server.start();
    const session = await idle(server, { approvals: 'auto', mcp: ['counter'] });
    const path = `/api/sessions/${session.id}/operations/mcp.counter.look`;
    expect(await bench.api('POST', path, {})).toEqual({ text: 'seen as 1000, of /action' });
    await server.client.sessions.remove(session.id);
    session.close();
    await bench.api('DELETE', '/api/actions/counter');
    await noPods();
  });

  it('leave nothing of a set-up that fails, and nothing once they are removed', async () => {
    const { state, lines } = await bench.installed('breaker');
    expect(state).not.toBe('done');
    expect(String(lines)).toContain('oh');
    for (const name of ['maker', 'asker', 'list'])
      await bench.api('DELETE', `/api/actions/${name}`);
    expect(readdirSync(join(server.data, 'images'))).toEqual([]);
    await noPods();
  });
});
