import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { newEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { ServerPort, MachineWithContainers } from '../../testing/machine-with-containers.js';
import { SandboxServer } from '../../testing/sandbox-server.js';

describe('attacks: a machine with containers', () => {
  let server: SandboxServer;
  let port: ServerPort;
  let evil: MachineWithContainers;
  let honest: MachineWithContainers;
  beforeAll(async () => {
    server = await new SandboxServer().open();
    port = await new ServerPort().open(server);
    evil = await new MachineWithContainers(server, port, 'evil').join();
    honest = await new MachineWithContainers(server, port, 'honest').join();
    await server.startSession('here');
    for (const [session, on] of [
      ['there', honest],
      ['own', evil],
    ] as const) {
      await server.logs.session(session, { machine: on.chosen });
      await server.startSession(session);
    }
  });
  afterAll(async () => {
    await evil.close();
    await honest.close();
    await server.close();
    port.close();
  });

  const idOf = (session: string): string => server.sandboxes.ofSession(session)?.id ?? '';
  const others = () => [server.service.state('here'), server.service.state('there')];

  /** The answer to a connection that a machine relays for a container. */
  async function relayed(container: string, token = evil.credential): Promise<string> {
    const dial = request(`http://127.0.0.1:${port.port}/agent`, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
        'x-belay-agent': randomUUID(),
        'x-belay-container': container,
        authorization: `Bearer ${token}`,
      },
    });
    dial.end();
    const [response] = (await Promise.race([once(dial, 'response'), once(dial, 'upgrade')])) as [
      { statusCode: number; resume(): void },
    ];
    dial.destroy();
    return String(response.statusCode);
  }

  it('ends no sandbox of others, whatever it reports', async () => {
    // It says that its engine has what others have, and that it has ended.
    const ids = ['here', 'there', 'own'].map(idOf);
    for (const id of ids.slice(0, 2))
      await evil.engine.start(
        await evil.engine.create({ Labels: { 'belay.instance': 'box', 'belay.sandbox': id } }),
      );
    for (const container of evil.engine.containers.values()) evil.engine.kill(container);
    for (const sandbox of ids)
      await evil.connection.call('agents.ended', { sandbox, reason: 'gone' });
    // The control: its own has ended.
    await until('its own is lost', () => server.lost.length > 0);
    expect(server.lost.map(([session]) => session)).toEqual(['own']);
    expect(others()).toEqual(['connected', 'connected']);
  });

  it('connects as no agent but those of its own containers', async () => {
    await until('its own is over', () => server.service.state('own') === 'none');
    await server.startSession('own');
    for (const container of [idOf('here'), idOf('there'), '', '..', 'x'.repeat(200)])
      expect({ container, answer: await relayed(container) }).toEqual({ container, answer: '503' });
    // Its own has an agent already, which no other program replaces.
    expect(await relayed(idOf('own'))).toBe('403');
    expect(await relayed(idOf('there'), honest.credential)).toBe('403');
    expect(await relayed(idOf('own'), `machine-${'x'.repeat(40)}`)).toBe('401');
    expect(others()).toEqual(['connected', 'connected']);
  });

  it('is asked to remove what it invents, and nothing is removed elsewhere', async () => {
    const [here, there] = [server.engine.only().id, honest.engine.only().id];
    for (const session of ['here', 'there']) {
      evil.engine.volumeNames.add(`belay-box-${idOf(session)}-workspace`);
      await evil.engine.create({
        Labels: { 'belay.instance': 'box', 'belay.sandbox': idOf(session) },
      });
    }
    evil.cut();
    await until('only its own is left there', () => evil.engine.containers.size === 1);
    expect([server.engine.only().id, honest.engine.only().id]).toEqual([here, there]);
    expect(server.engine.volumeNames.size).toBe(2);
  });

  it('does nothing more for a session that was placed elsewhere while it was away', async () => {
    const before = idOf('own');
    const { files } = server.sandboxes.ofSession('own') ?? {};
    const isOwn = (volume: string) => volume.startsWith(`belay-box-${files}-`);
    expect([...evil.engine.volumeNames].filter(isOwn)).toHaveLength(2);
    await evil.kill();
    await server.service.cutOff('own');
    const message = 'The session runs in a sandbox of the server.';
    await server.logs.log.append('own', [
      newEvent('server', 'placed', { args: { machine: null }, message }),
    ]);
    await server.startSession('own');
    const now = idOf('own');
    const { lastSeq } = await server.logs.log.summary('own');
    expect(now).not.toBe(before);
    // It says that it still runs the session, and has what runs it now.
    await evil.engine.start(
      await evil.engine.create({ Labels: { 'belay.instance': 'box', 'belay.sandbox': now } }),
    );
    expect(evil.engine.containers.size).toBe(2);
    await evil.start();
    for (const container of [before, now]) expect(await relayed(container)).toBe('503');
    for (const sandbox of [before, now])
      await evil.connection.call('agents.ended', { sandbox, reason: 'gone' });
    await until('no container is left there', () => evil.engine.containers.size === 0);
    await until('nor its files', () => ![...evil.engine.volumeNames].some(isOwn));
    expect(server.lost.map(([session]) => session)).toEqual(['own']);
    expect(server.service.state('own')).toBe('connected');
    expect((await server.logs.log.summary('own')).lastSeq).toBe(lastSeq);
    expect(server.engine.containers.size).toBe(2);
    await expect(
      server.service.agent('own')?.call('operation.call', { id: 'x', operation: 'y', input: {} }),
    ).resolves.toEqual({ output: null });
    expect(others()).toEqual(['connected', 'connected']);
  });

  it('that refuses everything delays no end, and is refused itself once it is removed', async () => {
    evil.engine.leave();
    await server.service.remove('own');
    expect(server.service.state('own')).toBe('none');
    expect(await relayed(evil.id)).toBe('503');
    await server.machines.remove(evil.id);
    expect(await relayed(evil.id)).toBe('401');
    expect(others()).toEqual(['connected', 'connected']);
  });
});
