import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { belay, describeSystem, run, script, start } from '@belay/testkit';
import { invite } from './joined-machine.js';
import { filesBelow, JoinProcess } from './join-process.js';

describeSystem(
  'a joined machine',
  (server) => {
    let home: string;
    let machine: JoinProcess;
    let token: string;
    beforeAll(async () => {
      home = mkdtempSync(join(tmpdir(), 'belay-machine-'));
      machine = new JoinProcess(home);
      ({ token } = await invite(server, 'laptop'));
      machine.start(server.url, '--token', token);
      await machine.says('Connected as laptop');
    });
    afterAll(async () => {
      await machine.end('SIGTERM');
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    });

    it('is listed with its details and a note that nothing is confined, and no token is valid twice', async () => {
      expect(machine.output).toMatch(/Nothing is confined: agents of .* with all permissions of /);
      expect(await server.client.machines.list()).toMatchObject([
        { name: 'laptop', host: hostname(), kind: 'bare', connected: true, sessions: [] },
      ]);
      const description = { host: 'x', os: 'x', arch: 'x', kind: 'bare' as const };
      await expect(server.client.machines.join({ token, description })).rejects.toMatchObject({
        code: 'unauthorized',
      });
      const stored = readFileSync(join(server.data, 'machines.json'), 'utf8');
      expect(stored).not.toContain(token.slice(-20));
    });

    it('runs a session assigned to it, whose files outlive its agent', async () => {
      const model = script(server.data, [
        { calls: [run('echo "here: $(hostname) $BELAY_TOKEN."; echo kept > kept.txt')] },
        { finish: 'done' },
        { calls: [run('cat kept.txt')] },
        { finish: 'again' },
      ]);
      const ran = await belay(server.data, [
        'run',
        'Where are you?',
        '-m',
        model,
        '--machine',
        'laptop',
        '--approve',
        'auto',
      ]);
      expect(ran).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`here: ${hostname()} .`),
        stderr: expect.stringContaining('Runs on the machine laptop itself: nothing is confined.'),
      });
      const [summary] = await server.client.sessions.list();
      const id = String(summary?.id);
      expect(summary?.machine).toEqual({ name: 'laptop', kind: 'bare' });
      await machine.says(`Session ${id} is running here now.`);
      await until('the log has it', () =>
        server.log.includes(`Session ${id} runs on the machine laptop.`),
      );
      const { parts } = await server.client.sessions.call(id, 'session.prompt', {});
      expect(JSON.stringify(parts)).toContain('NOT in a sandbox: nothing confines you');
      expect(await machine.agent()).toBeGreaterThan(0);
      await server.client.sessions.stop(id);
      const said = await belay(server.data, ['say', id, 'And now?']);
      expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining('kept') });
      await server.client.sessions.remove(id);
      await until('its agent is gone', () => machine.agents().length === 0);
      await until('its files are gone', () => sessionsOf(home).length === 0);
    });

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
  },
  { BELAY_MACHINE_LEASE_S: '8', BELAY_LOG_LEVEL: 'info' },
);

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
      stderr: 'belay: --image is for agents in containers: add --container.\n',
    });
    expect((await server.client.machines.list()).map(({ name }) => name)).not.toContain('spare');
    rmSync(home, { recursive: true, force: true });
  });
});

const sessionsOf = (home: string): string[] => {
  const entries = filesBelow(join(home, 'belay/joined'));
  return entries.filter((name) => /sessions\/belay-/.test(name));
};
