import { labels } from '@belay/containers';
import { until } from '@belay/testing';
import { ServerPort, MachineWithContainers } from '../../testing/machine-with-containers.js';
import { SandboxServer } from '../../testing/sandbox-server.js';

let server: SandboxServer;
let port: ServerPort;
let box: MachineWithContainers;
/** Of sandboxes that are kept ready on each host. */
let pool = '0';
beforeEach(async () => {
  server = await new SandboxServer().open({ BELAY_POOL: pool });
  port = await new ServerPort().open(server);
  box = await new MachineWithContainers(server, port).join();
});
afterEach(async () => {
  await box.close();
  await server.close();
  port.close();
});

const stateIs = (session: string, state: string) =>
  until(`${session} is ${state}`, () => server.service.state(session) === state);
async function start(session = 'one'): Promise<void> {
  await server.logs.session(session, { machine: box.chosen });
  await server.startSession(session, 10);
}

it('runs a session in a container of the machine, and removes it with its files', async () => {
  await start();
  expect(server.service.state('one')).toBe('connected');
  expect(box.engine.only()).toMatchObject({ name: 'belay-one', state: 'running' });
  expect(box.engine.only().spec.Labels).toMatchObject({
    [labels.instance]: 'box',
    [labels.session]: 'one',
  });
  expect(server.engine.containers.size).toBe(0);
  await server.service.stop('one');
  expect([box.engine.containers.size, box.engine.volumeNames.size]).toEqual([0, 2]);
  await server.startSession('one', 10);
  // With the files that it had.
  expect(server.unpacked).toEqual([10]);
  await server.service.remove('one');
  await box.isEmpty();
});

it('is the place of a session whose image it has, when this server has to fetch it', async () => {
  const needs = { labels: {}, mounts: [], agent: undefined, actions: [], image: 'node:24' };
  const chosen = async () =>
    (
      await server.places.choose(
        server.places.all(() => 0),
        needs,
      )
    )?.name;
  expect(await chosen()).toBe('this server');
  server.engine.registry.set('node:24', 'sha256:new');
  expect(await chosen()).toBe('box');
  box.engine.registry.set('node:24', 'sha256:new');
  expect(await chosen()).toBe('this server');
});

it('goes on after cuts, and with another process of the machine or of the server', async () => {
  await start();
  const { id } = box.engine.only();
  const answers = () =>
    server.service.agent('one')?.call('operation.call', { id: 'x', operation: 'y', input: {} });
  box.cut();
  await expect(answers()).resolves.toEqual({ output: null });
  await box.kill();
  await stateIs('one', 'lost');
  await box.start();
  await stateIs('one', 'connected');
  const again = port.asked();
  await server.stop();
  // The machine is not told that its token is not valid.
  await again;
  await server.start();
  await stateIs('one', 'connected');
  await expect(answers()).resolves.toEqual({ output: null });
  expect([box.engine.only().id, server.lost]).toEqual([id, []]);
});

it('reports a container that ends, also while the machine is not connected', async () => {
  await start();
  box.engine.kill(box.engine.only());
  await until('it is lost', () => server.lost.length === 1);
  expect(server.lost).toEqual([['one', expect.stringMatching(/killed.*Its files are kept\.$/)]]);
  await server.startSession('one', 10);
  await box.kill();
  box.engine.kill(box.engine.only());
  await box.start();
  await until('it is lost again', () => server.lost.length === 2);
  expect(server.unpacked).toEqual([10]);
});

it('has the machine remove what was ended while it was away, and begins nothing before', async () => {
  await start();
  await start('two');
  await box.kill();
  await server.service.remove('one');
  await server.service.stop('two');
  expect(box.running).toEqual(['belay-one', 'belay-two']);
  await expect(server.startSession('two')).rejects.toThrow(/box is not connected/);
  const held = box.engine.hold('events');
  const back = box.start();
  await held.reached;
  held.release();
  await back;
  // Two agents never work on the same files.
  await server.startSession('two');
  expect(box.running).toEqual(['belay-two']);
  await server.service.remove('two');
  await box.isEmpty();
});

it('leaves the machine nothing of a start that fails there, and says why', async () => {
  box.engine.fail('start');
  await server.logs.session('one', { machine: box.chosen });
  await expect(server.startSession('one')).rejects.toThrow('Docker does not respond.');
  await box.isEmpty();
  await server.logs.session('two', { machine: box.chosen, image: 'secret/app' });
  await expect(server.startSession('two')).rejects.toThrow('--allow-image secret/app');
  await box.isEmpty();
});

describe('with sandboxes that are kept ready', () => {
  beforeAll(() => (pool = '1'));

  it('gives a session the one of its machine, keeps another one ready, and leaves none', async () => {
    await until('one is warm here and there', () => server.service.counts.warm === 2);
    const [here, there] = [server.engine.only(), box.engine.only()];
    expect(there.name).toMatch(/^belay-warm-/);
    await start();
    expect(server.service.counts).toMatchObject({ started: 1, connected: 1 });
    await until('its name', () => there.name === 'belay-one');
    await until('another one', () => box.running.length === 2);
    expect(server.engine.only()).toBe(here);
    await until('it is ready', () => server.service.counts.warm === 2);
    const warm = [...box.engine.containers.values()].find((one) => one !== there);
    if (warm) box.engine.kill(warm);
    await until('it is replaced', () => box.running.length === 2 && !warm?.name.includes('one'));
    await server.service.remove('one');
    await server.stop();
    await box.isEmpty();
  });

  it('leaves none on a machine that is being drained', async () => {
    await until('one is warm here and there', () => server.service.counts.warm === 2);
    await server.machines.change(box.id, { draining: true });
    await box.isEmpty();
    expect(server.service.counts.warm).toBe(1);
    await server.machines.change(box.id, { draining: false });
    await until('one is warm again', () => server.service.counts.warm === 2);
  });

  it('begins none while the machine is away', async () => {
    await until('one is warm here and there', () => server.service.counts.warm === 2);
    await box.kill();
    box.engine.kill(box.engine.only());
    await box.start();
    await until('it is replaced', () => box.running.length === 1);
    await until('both are ready', () => server.service.counts.warm === 2);
    expect(box.engine.only().name).toMatch(/^belay-warm-/);
  });
});
