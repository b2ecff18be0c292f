import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, until } from '@belay/testing';
import {
  belay,
  containerOf,
  describeSystem,
  prepared,
  removeSandboxes,
  run,
  script,
  start,
} from '@belay/testkit';
import {
  describeJoinedMachine,
  joinedFolderIn,
  invite,
  leftOf,
  tlsInFrontOf,
} from './joined-machine.js';
import { processRuns, JoinProcess } from './join-process.js';

describeJoinedMachine('a joined machine that is interrupted', (joined) => {
  const { server, machine } = joined;

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
});

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
});
