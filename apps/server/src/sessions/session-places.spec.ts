import { isEvent, type Check, type SessionSummary } from '@belay/protocol';
import { until } from '@belay/testing';
import { ownerCaller, type Caller } from '../access/caller.js';
import { Machines } from '../sandboxes/machines/machines.js';
import { joinMachine, runOnMachines } from '../testing/joined-machine.js';
import { TestServer } from '../testing/server.js';

describe('the places of sessions', () => {
  let server: TestServer;
  const ends: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    server = await new TestServer().start({ BELAY_MAX_SANDBOXES: '1' });
    runOnMachines(server);
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
    await server.close();
  });

  const join = async (name: string, more = {}) => {
    const machine = await joinMachine(server, name, more);
    ends.push(machine.close);
    return machine;
  };
  const create = (more = {}) =>
    server.json<SessionSummary & { detail?: string }>('POST', '/api/sessions', {
      task: 'x',
      model: 'scripted:x',
      ...more,
    });
  const placeOf = async (id: string) => (await server.log.summary(id)).machine?.name ?? 'server';

  it('are the server while it has capacity, then the least loaded machine; the rest waits for any', async () => {
    await join('box', { sandboxes: 2 });
    const all: string[] = [];
    for (let n = 0; n < 3; n++) all.push(await server.session());
    expect(await Promise.all(all.map(placeOf))).toEqual(['server', 'box', 'box']);
    const events = await server.log.read(all[1]!, { after: 0 });
    const placed = events.filter((event) => isEvent(event, 'placed'));
    expect(placed.map(({ message }) => message)).toEqual(['The session runs on the machine box.']);
    const { id } = await create();
    const reason = async () => (await server.log.summary(id)).reason;
    await until('it waits', async () => (await reason()) !== null);
    expect(await reason()).toBe('Waiting for a free sandbox (0 ahead of it).');
    await server.json('POST', `/api/sessions/${all[2]}/stop`, {});
    await server.reaches(id, 'running');
    expect(await placeOf(id)).toBe('box');
    // Its files are there, and there it starts again.
    await server.json('POST', `/api/sessions/${all[0]}/stop`, {});
    await server.json('POST', `/api/sessions/${id}/stop`, {});
    await until('its end', () => !server.sandboxes.agents.has(id));
    await server.json('POST', `/api/sessions/${id}/restart`, {});
    await server.reaches(id, 'running');
    expect(await placeOf(id)).toBe('box');
  });

  it('are full for one that named them without keeping others waiting', async () => {
    await join('box', { sandboxes: 1 });
    await server.session({ machine: 'box' });
    const { id } = await create({ machine: 'box' });
    const other = await server.session();
    expect(await placeOf(other)).toBe('server');
    expect((await server.log.summary(id)).state).toBe('starting');
  });

  it('are those with the labels that are asked for, or one sentence says why none is', async () => {
    await join('gpu', { labels: { gpu: 'yes' } });
    const away = await joinMachine(server, 'away', { labels: { gpu: 'yes' } });
    await away.close();
    expect(await placeOf(await server.session({ labels: { gpu: 'yes' } }))).toBe('gpu');
    expect(await placeOf(await server.session({ labels: { place: 'server' } }))).toBe('server');
    const refused = await create({ labels: { gpu: 'no' } });
    expect(refused).toMatchObject({
      status: 409,
      detail: expect.stringMatching(
        /^No place fits this session: this server does not have gpu=no; away is not connected; gpu does not have gpu=no\./,
      ),
    });
    expect(await create({ labels: { gpu: 'yes' }, machine: 'gpu' })).toMatchObject({ status: 400 });
    expect(await create({ labels: { 'a b': 'x' } })).toMatchObject({ status: 400 });
  });

  it('allow the image that a session names', async () => {
    await join('box', { images: ['node:*'] });
    await join('other', { sandboxes: 9 });
    await server.session();
    expect(await placeOf(await server.session({ image: 'node:24' }))).toBe('box');
    const { id } = await create({ image: 'ruby:3' });
    const reason = async () => (await server.log.summary(id)).reason;
    await until('it waits', async () => (await reason()) !== null);
    expect(await reason()).toBe('Waiting for a free sandbox (0 ahead of it).');
    expect(await create({ image: 'ruby:3', labels: { place: 'machine' } })).toMatchObject({
      status: 409,
      detail: expect.stringContaining('box does not allow the image ruby:3') as string,
    });
  });

  it('are listed with their load', async () => {
    const { id } = await join('box', {
      sandboxes: 3,
      labels: { disk: 'ssd' },
      images: ['node:*', 'python:3'],
    });
    await server.json('PUT', '/api/custom-agents/mine', { command: ['mine'], protocol: 'acp' });
    const session = await server.session({ machine: 'box' });
    const machines = await server.json<never[]>('GET', '/api/machines');
    expect(machines).toMatchObject([
      {
        id,
        labels: { disk: 'ssd' },
        draining: false,
        running: 1,
        capacity: { sandboxes: 3, memoryMb: 8_192, cpus: 4, images: ['node:*', 'python:3'] },
        sessions: [session],
      },
    ]);
    const own = await server.session();
    expect(await server.json('GET', '/api/sandboxes')).toMatchObject({
      running: 1,
      capacity: { sandboxes: 1 },
      agents: ['mine'],
      sessions: [own],
    });
    const checks = await server.json<Check[]>('GET', '/api/checks');
    expect(checks.find(({ name }) => name === 'Places')).toMatchObject({
      ok: true,
      detail:
        'this server has 1 of 1 sandbox, agents: mine; box has 1 of 3 sandboxes, images: node:*, python:3',
    });
  });

  it('attack: tell nobody who sees only some sessions which images are allowed there', async () => {
    await join('box', { images: ['registry.internal/us/*'] });
    const images = (caller: Caller) =>
      server.app.get(Machines).list(caller)[0]?.capacity?.images ?? null;
    expect(images(ownerCaller)).toEqual(['registry.internal/us/*']);
    expect(images({ ...ownerCaller, sessions: new Set() })).toEqual([]);
  });

  it('attack: a machine that says more images than it may gets no sessions', async () => {
    const many = Array.from({ length: 51 }, () => '*');
    await expect(join('box', { images: many })).rejects.toThrow(/at most 50 images/);
    await server.session();
    const refused = await create({ image: 'node:24', labels: { place: 'machine' } });
    expect(refused).toMatchObject({ status: 409 });
  });

  it('attack: a machine cannot take the label of the server, nor an admin give it', async () => {
    const labels = { place: 'server' };
    expect(await server.json('POST', '/api/machines', { name: 'x', labels })).toMatchObject({
      status: 400,
    });
    await join('box', { labels });
    expect(await placeOf(await server.session({ labels }))).toBe('server');
  });
});
