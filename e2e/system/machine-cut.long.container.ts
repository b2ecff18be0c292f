import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { belay, BelayServer, prepared, removeSandboxes, run, script, start } from '@belay/testkit';
import type { Followed } from '@belay/testkit';
import { counting, endCounting, expectCountedOnce } from './counting.js';
import { eventNumbers, gaplessNumbers } from './event-numbers.js';
import { invite, joinedFolderIn, leftOf, tlsInFrontOf } from './joined-machine.js';
import { filesBelow, JoinProcess } from './join-process.js';
import { NetworkNamespace } from './network-namespace.js';
import { shownWithin } from './shown-within.js';

const away = { state: 'waiting', reason: /sandbox cannot be reached/ } as const;

describe('a machine with containers to which the network is cut', () => {
  let namespace: NetworkNamespace;
  let server: BelayServer;
  let front: Awaited<ReturnType<typeof tlsInFrontOf>>;
  let home: string;
  let box: JoinProcess;
  /** The server gives the machine up after so many seconds. */
  const joined = async (leaseS: number): Promise<void> => {
    namespace = await NetworkNamespace.make();
    home = mkdtempSync(join(tmpdir(), 'belay-machine-'));
    server = new BelayServer({ BELAY_MACHINE_LEASE_S: String(leaseS) });
    await server.start();
    front = await tlsInFrontOf(server, home, namespace.machine);
    const { token } = await invite(server, 'box');
    box = new JoinProcess(home, {}, namespace.enter);
    const options = ['--ca', join(home, 'cert.pem'), '--image', prepared('BELAY_TEST_IMAGE')];
    box.start(front.url, '--token', token, '--container', ...options);
    await box.says('Connected as box');
  };
  afterEach(async () => {
    await namespace.restore();
    await box.end('SIGKILL');
    front.close();
    await server.dispose();
    await removeSandboxes(joinedFolderIn(home));
    await namespace.dispose();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });

  const machines = (...args: string[]) => belay(server.data, ['machines', ...args]);
  const listed = async () => (await server.client.machines.list())[0];
  /** A session on the machine with a file that the server has a copy of, which prints on and on. */
  async function copied(): Promise<Followed> {
    const printing = run('for i in $(seq 1000); do echo first $i; sleep 0.2; done', { wait: 300 });
    const turns = [
      { calls: [run('echo kept > kept.txt')] },
      { calls: [printing] },
      { calls: [run('cat kept.txt; echo second')] },
      { finish: 'done' },
    ];
    const model = script(server.data, turns);
    const session = await start(server, { task: 'Print', model, machine: 'box' });
    await session.printed('first 3');
    const { args } = await session.event(
      (event) => isEvent(event, 'commit') && event.args.files.length > 0,
    );
    const isCopy = (file: string) =>
      file.startsWith('copies/') && file.endsWith(`.${String(args['commit'])}`);
    await until('its step is copied', () => filesBelow(server.data).some(isCopy), {
      state: () => filesBelow(join(server.data, 'copies')),
    });
    return session;
  }
  /** It goes on elsewhere with its files; what the machine had does nothing more once that is back. */
  async function expectOnlyElsewhere(session: Followed): Promise<void> {
    const restored = await session.event((event) => isEvent(event, 'restored'));
    expect(restored.args['commit']).not.toBeNull();
    await session.finished(restored.seq);
    await session.printed(/^kept\r?\nsecond/m);
    const [before, printed] = [session.events.length, session.terminal()];
    expect(await leftOf(home)).toEqual({ containers: 1, volumes: 2 });
    await namespace.restore();
    await box.says('Connected again.');
    const left = async () => JSON.stringify(await leftOf(home));
    const nothing = JSON.stringify({ containers: 0, volumes: 0 });
    await until('nothing is left there', async () => (await left()) === nothing, { state: left });
    const { lastSeq, machine } = await server.client.sessions.get(session.id);
    expect([lastSeq, machine]).toEqual([before, null]);
    expect([session.events.length, session.terminal()]).toEqual([before, printed]);
    expect(eventNumbers(session)).toEqual(gaplessNumbers(session));
    expect(await listed()).toMatchObject({ connected: true, draining: true, running: 0 });
    session.close();
  }

  it('goes on exactly once it is back in time, and is shown to be away', async () => {
    await joined(60);
    const turns = [{ calls: [counting] }, { finish: 'done' }];
    const model = script(server.data, turns);
    const session = await start(server, { task: 'Count', model, machine: 'box' });
    await session.printed('line 3');
    await namespace.cut();
    await shownWithin(server, session, away);
    expect(await listed()).toMatchObject({ connected: false, sessions: [session.id] });
    await namespace.restore();
    await box.says('Connected again.');
    await shownWithin(server, session, { state: 'running', reason: /^$/ });
    await endCounting(server, session);
    await expectCountedOnce(session);
    expect(await leftOf(home)).toEqual({ containers: 1, volumes: 2 });
  });

  it('does nothing for a session that was restarted elsewhere after it was given up', async () => {
    await joined(10);
    const session = await copied();
    await namespace.cut();
    await shownWithin(server, session, away);
    const failed = await session.state('failed');
    expect(failed.args.reason).toContain('Its machine was not connected for 10 s.');
    await server.client.sessions.restart(session.id);
    const refused = await session.ended(failed.seq);
    expect(refused.args.reason).toContain('The machine box is not connected');
    expect(await machines('drain', 'box')).toMatchObject({ code: 0 });
    await server.client.sessions.restart(session.id);
    await expectOnlyElsewhere(session);
  });

  it('says so when it is drained, and its sessions go elsewhere when it is given up', async () => {
    await joined(20);
    const session = await copied();
    await namespace.cut();
    expect(await machines('drain', 'box')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        `${session.id}  kept  The machine is not connected, so nothing would end it there.`,
      ),
    });
    await shownWithin(server, session, away);
    await expectOnlyElsewhere(session);
  });
});
