import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { belay, describeSystem, run, script, start } from '@belay/testkit';
import { describeJoinedMachine, invite } from './joined-machine.js';
import { JoinProcess } from './join-process.js';

describeJoinedMachine('a joined machine', (joined) => {
  const { server, machine } = joined;

  it('resumes exactly after kill -9 of the join process and of the server', async () => {
    const count = 'for i in $(seq 1 20); do echo step $i; sleep 0.2; done';
    const model = script(server.data, [{ calls: [run(count)] }, { finish: 'done' }]);
    const session = await start(server, { task: 'Count', model, machine: 'laptop' });
    await session.until(() => session.terminal().includes('step 3'), 'step 3');
    const agent = await machine.agent();
    await machine.end('SIGKILL');
    machine.start(server.url);
    await machine.says(`Session ${session.id} is still running here.`);
    await server.end('SIGKILL');
    await server.start();
    session.follow();
    await session.finished();
    await session.until(() => session.terminal().includes('step 20'), 'the last output');
    expect(session.events.map(({ seq }) => seq)).toEqual(session.events.map((_, i) => i + 1));
    const steps = session.terminal().match(/^step \d+/gm);
    expect(steps).toEqual(Array.from({ length: 20 }, (_, i) => `step ${i + 1}`));
    expect(await machine.agent()).toBe(agent);
    await machine.says(/Connected (again|as laptop)/);
    session.close();
    await server.client.sessions.remove(session.id);
    await until('its agent is gone', () => machine.agents().length === 0);
  });

  it('is not used unless it is named, and an unknown name is reported in one sentence', async () => {
    const model = script(server.data, [{ finish: 'x' }]);
    const refused = await belay(server.data, ['run', 'x', '-m', model, '--machine', 'nobody']);
    expect(refused).toMatchObject({
      code: 2,
      stderr: 'belay: There is no machine nobody. See: belay machines list\n',
    });
    const plain = await belay(server.data, ['join', 'http://192.0.2.1:4600', '--token', 'x']);
    expect(plain).toMatchObject({ code: 2, stderr: expect.stringMatching(/is not encrypted/) });
    const unknown = await belay(server.data, ['join', server.url, '--token', 'join-wrong']);
    expect(unknown).toMatchObject({ code: 2 });
  });
});

describeSystem('a machine that makes containers', (server) => {
  it('reports in one sentence why it makes no containers, and keeps the token for a second try', async () => {
    const { token: unused } = await invite(server, 'spare');
    const home = mkdtempSync(join(tmpdir(), 'belay-spare-'));
    const away = new JoinProcess(home, { DOCKER_HOST: 'unix:///nowhere/docker.sock' });
    away.start(server.url, '--token', unused, '--container');
    await away.ended();
    await away.says(
      /^belay: No Docker Engine answers at DOCKER_HOST .*\. Without --container, .*\n$/,
    );
    const mixed = await belay(server.data, ['join', server.url, '--image', 'x']);
    expect(mixed).toMatchObject({
      code: 2,
      stderr: 'belay: --image is for agents in containers: add --container or --kubernetes.\n',
    });
    expect((await server.client.machines.list()).map(({ name }) => name)).not.toContain('spare');
    rmSync(home, { recursive: true, force: true });
  });
});
