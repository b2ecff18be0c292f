import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { eventually, until } from '@belay/testing';
import {
  belay,
  containerOf,
  describeSystem,
  docker,
  prepared,
  removeSandboxes,
  run,
  script,
  start,
  type BelayServer,
} from '@belay/testkit';
import { filesBelow, processRuns, JoinProcess } from './join-process.js';

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

    it('reports the end of its agent, and an agent that was away too long is refused', async () => {
      const model = script(server.data, [
        { calls: [run('sleep 100', { wait: 100 })] },
        { calls: [run('sleep 100', { wait: 100 })] },
        { finish: 'done' },
      ]);
      const session = await start(server, { task: 'Wait', model, machine: 'laptop' });
      await session.event(({ action }) => action === 'terminal.run');
      process.kill(await machine.agent(), 'SIGKILL');
      const killed = await session.state('failed');
      expect(killed.args.reason).toMatch(/The agent ended: .*SIGKILL/);
      await server.client.sessions.restart(session.id);
      await session.event(({ action }) => action === 'terminal.run', killed.seq);
      // Simulates a laptop that sleeps: all of its processes are stopped.
      const [old, joined] = [await machine.agent(), machine.child.pid ?? 0];
      for (const pid of [old, joined]) process.kill(pid, 'SIGSTOP');
      await server.end('SIGKILL');
      await server.start();
      session.follow();
      const over = (action: string, args: unknown) =>
        action === 'state' && JSON.stringify(args).includes('not connected for 8 s');
      const end = await session.event(({ action, args }) => over(action, args), killed.seq);
      for (const pid of [joined, old]) process.kill(pid, 'SIGCONT');
      await until('the old agent ends', () => !processRuns(old));
      await eventually(async () => {
        const { lastSeq } = await server.client.sessions.get(session.id);
        expect(session.events.at(-1)?.seq).toBe(lastSeq);
      });
      const later = session.events.filter(({ seq }) => seq > end.seq);
      expect(later.filter(({ source }) => source === 'agent')).toEqual([]);
      session.close();
      await server.client.sessions.remove(session.id);
    });

    it('joins over TLS with a private certificate authority, ends cleanly, and is removed', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'belay-tls-'));
      const front = await tlsInFrontOf(server, folder);
      const other = new JoinProcess(folder);
      try {
        const { token: second } = await invite(server, 'far');
        const ca = join(folder, 'cert.pem');
        const distrusting = new JoinProcess(folder).start(front.url, '--token', second);
        await distrusting.says('No Belay server answers');
        expect(await distrusting.end('SIGTERM')).not.toBe(0);
        other.start(front.url, '--token', second, '--ca', ca);
        await other.says('Connected as far');
        const model = script(server.data, [
          { calls: [run('echo from afar; sleep 100', { wait: 100 })] },
          { finish: 'x' },
        ]);
        const session = await start(server, { task: 'Wait', model, machine: 'far' });
        await session.until(() => session.terminal().includes('from afar'), 'its output');
        const agent = await other.agent();
        expect(await other.end('SIGINT')).toBe(0);
        expect(processRuns(agent)).toBe(false);
        expect((await session.state('failed')).args.reason).toMatch(/belay join was ended/);
        session.close();
        other.start(front.url, '--ca', ca);
        await other.says('Connected as far');
        const removed = await belay(server.data, ['machines', 'remove', 'far']);
        expect(removed).toMatchObject({ code: 0 });
        await other.ended();
        await other.says(/is not valid, or was revoked|was removed/);
      } finally {
        await other.end('SIGKILL');
        front.close();
        rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
      }
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
  it('makes containers as confined as the server’s own, and resumes exactly after it was cut off', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'belay-contained-'));
    const front = await tlsInFrontOf(server, folder);
    const secret = join(folder, 'secret.txt');
    writeFileSync(secret, 'of the user\n');
    const image = prepared('BELAY_TEST_IMAGE');
    const flags = ['--ca', join(folder, 'cert.pem'), '--container', '--image', image];
    const box = new JoinProcess(folder);
    const laptop = new JoinProcess(mkdtempSync(join(folder, 'bare-')));
    try {
      const { token: first } = await invite(server, 'laptop');
      laptop.start(server.url, '--token', first);
      await laptop.says('Connected as laptop');
      const { token: second } = await invite(server, 'box');
      box.start(front.url, '--token', second, '--memory', '512', ...flags);
      await box.says('Connected as box');
      expect(box.output).toMatch(/Each agent runs in a container of its own, .*no network/);
      const { stdout: listed } = await belay(server.data, ['machines', 'list']);
      expect(listed).toMatch(/^laptop +connected +bare: nothing is confined · /m);
      expect(listed).toMatch(new RegExp(`^box +connected +container on ${hostname()} · `, 'm'));

      // What a session without a container can see on the machine.
      const look = `cat ${secret} || echo no file; ls /sys/class/net; id -u; grep CapEff /proc/self/status; touch /usr/mark && rm /usr/mark || echo read-only`;
      const looked = await start(server, {
        task: 'Look',
        model: script(server.data, [{ calls: [run(look)] }, { finish: 'seen' }]),
        machine: 'laptop',
      });
      await looked.finished();
      await looked.until(() => looked.terminal().includes('CapEff:'), 'what it sees');
      expect(looked.terminal()).toContain('of the user');
      looked.close();
      await server.client.sessions.remove(looked.id);

      const count = 'for i in $(seq 1 25); do echo step $i; sleep 0.2; done';
      const session = await start(server, {
        task: 'Count',
        model: script(server.data, [{ calls: [run(`${look}; ${count}`)] }, { finish: 'done' }]),
        machine: 'box',
      });
      await session.until(() => session.terminal().includes('step 3'), 'step 3');
      const seen = session.terminal();
      expect(seen).toContain('no file');
      expect(seen).not.toContain('of the user\r');
      expect(seen).toMatch(/^lo\r?\n1000\r?\nCapEff:\s+0000000000000000/m);
      expect(seen).toContain('read-only');
      const container = await containerOf(session.id);
      const made = await container.inspect();
      expect(made.HostConfig).toMatchObject({
        NetworkMode: 'none',
        CapDrop: ['ALL'],
        ReadonlyRootfs: true,
        Memory: 512 * 2 ** 20,
        PidsLimit: 512,
      });
      const bound = made.Mounts.filter(({ Type }) => Type === 'bind');
      expect(bound.map(({ Destination }) => Destination).toSorted()).toEqual([
        '/etc/hosts',
        '/run/belay',
      ]);
      // The container’s environment has no secret by which the server identifies the machine or the
      // agent.
      expect(JSON.stringify(made.Config.Env)).not.toMatch(/TOKEN|agent-/);

      front.cut();
      await session.until(() => session.terminal().includes('step 8'), 'what follows the cut');
      await box.end('SIGKILL');
      box.start(front.url, '--memory', '512', ...flags);
      await box.says(`Session ${session.id} is still running here.`);
      await session.finished();
      await session.until(() => session.terminal().includes('step 25'), 'the last output');
      expect(session.events.map(({ seq }) => seq)).toEqual(session.events.map((_, i) => i + 1));
      expect(session.terminal().match(/^step \d+/gm)).toEqual(
        Array.from({ length: 25 }, (_, i) => `step ${i + 1}`),
      );
      expect((await containerOf(session.id)).id).toBe(container.id);
      session.close();

      // Deleted while the machine is disconnected: the next join removes the container and the
      // files.
      await box.end('SIGKILL');
      await server.client.sessions.remove(session.id);
      expect(await leftOf(folder)).toEqual({ containers: 1, volumes: 2 });
      box.start(front.url, ...flags);
      await eventually(async () =>
        expect(await leftOf(folder)).toEqual({ containers: 0, volumes: 0 }),
      );

      const later = await start(server, {
        task: 'Wait',
        model: script(server.data, [
          { calls: [run('sleep 100', { wait: 100 })] },
          { calls: [run('sleep 100', { wait: 100 })] },
          { finish: 'done' },
        ]),
        machine: 'box',
      });
      await later.event(({ action }) => action === 'terminal.run');
      await (await containerOf(later.id)).kill();
      const killed = await later.state('failed');
      expect(killed.args.reason).toMatch(/The sandbox was killed/);
      await server.client.sessions.restart(later.id);
      await later.event(({ action }) => action === 'terminal.run', killed.seq);
      expect(await box.end('SIGINT')).toBe(0);
      const isEnd = (args: object) => JSON.stringify(args).includes('belay join was ended');
      await later.event(({ args }) => isEnd(args), killed.seq);
      await eventually(async () =>
        expect(await leftOf(folder)).toEqual({ containers: 0, volumes: 2 }),
      );
      later.close();

      // Nobody but the machine reaches what is left there once it is removed.
      await server.client.machines.remove('box');
      box.leave(front.url, '--yes');
      await box.says('with 0 containers and 2 volumes.');
      await box.ended();
      expect(await leftOf(folder)).toEqual({ containers: 0, volumes: 0 });
    } finally {
      await box.end('SIGKILL');
      await laptop.end('SIGTERM');
      front.close();
      await removeSandboxes(joinedFolderIn(folder));
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  });

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

const joinedFolderIn = (home: string): string => {
  const folder = join(home, 'belay/joined');
  return join(folder, readdirSync(folder)[0] ?? '');
};

/** Containers and volumes that the joined machine has created and not removed. */
async function leftOf(home: string): Promise<{ containers: number; volumes: number }> {
  const filters = { label: [`belay.data=${joinedFolderIn(home)}`] };
  const containers = await docker.listContainers({ all: true, filters });
  const { Volumes } = await docker.listVolumes({ filters: JSON.stringify(filters) as never });
  return { containers: containers.length, volumes: (Volumes ?? []).length };
}

async function invite(server: BelayServer, name: string): Promise<{ token: string }> {
  const { stdout } = await belay(server.data, ['machines', 'add', name, '--json']);
  return JSON.parse(stdout) as { token: string };
}

const sessionsOf = (home: string): string[] => {
  const entries = filesBelow(join(home, 'belay/joined'));
  return entries.filter((name) => /sessions\/belay-/.test(name));
};

/** A proxy that terminates TLS with a self-signed certificate. */
async function tlsInFrontOf(
  server: BelayServer,
  folder: string,
): Promise<{ url: string; cut(): void; close(): void }> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      ...subject,
      '-keyout',
      key,
      '-out',
      cert,
    ],
    { stdio: 'ignore' },
  );
  const open = new Set<TLSSocket>();
  const cut = () => open.forEach((socket) => void socket.destroy());
  const front: Server = createServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    (socket) => {
      open.add(socket.once('close', () => open.delete(socket)));
      const behind = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.on('error', () => {}).once('close', () => behind.destroy());
      socket.pipe(behind);
      behind.on('error', () => socket.destroy()).pipe(socket);
    },
  );
  front.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  const { port } = front.address() as { port: number };
  return {
    url: `https://localhost:${port}`,
    cut,
    close: () => {
      front.close();
      cut();
    },
  };
}
