import { until } from '@belay/testing';
import type { Caller } from '../../access/caller.js';
import type { AgentStore } from '../../agents/agent.store.js';
import { Config } from '../../config.js';
import { SandboxServer } from '../../testing/sandbox-server.js';
import type { MachineHosts } from '../machines/machine-hosts.js';
import type { Machines } from '../machines/machines.js';
import type { Needs, SandboxPlace } from './free-places.js';
import { Places } from './places.js';

/** Of another session than those that run. */
const needs = (image: string | null): Needs => ({
  labels: {},
  mounts: [],
  agent: undefined,
  actions: [],
  image,
});
const admin = { scope: 'admin' } as Caller;

describe('the server’s own place', () => {
  it('is away while its engine does not respond', async () => {
    const server = await new SandboxServer().open();
    try {
      const isAway = () => server.places.all(() => 0)[0]?.isAway;
      expect(isAway()).toBe(false);
      server.engine.leave();
      await until('it is away', () => isAway() === true);
      server.engine.comeBack();
      await until('it is back', () => isAway() === false);
    } finally {
      await server.close();
    }
  });

  it('shows the memory and the processors of its machine, and none for those of a cluster', () => {
    const capacityOf = (env: Record<string, string>) =>
      new Places(
        new Config(env),
        { sessionsOn: () => [] } as unknown as Machines,
        { own: { host: {} } } as MachineHosts,
        { names: () => [] } as unknown as AgentStore,
      ).own(admin).capacity;
    const cluster = {
      BELAY_ENGINE: 'kubernetes',
      BELAY_RUNTIME_IMAGE: 'runtime:1',
      BELAY_AGENT_URL: 'wss://10.0.0.1:4601',
    };
    expect(capacityOf(cluster)).toEqual({
      sandboxes: 20,
      images: ['*'],
      memoryMb: null,
      cpus: null,
    });
    expect(capacityOf({})).toEqual({
      sandboxes: 20,
      images: ['*'],
      memoryMb: expect.any(Number) as number,
      cpus: expect.any(Number) as number,
    });
  });
});

describe('the place of a session with an image', () => {
  const config = new Config({});
  /** Whether each place has the image; undefined for one that does not say so. */
  let has: Map<string | undefined, boolean | Promise<boolean>>;
  let asked: (string | undefined)[];
  beforeEach(() => {
    has = new Map();
    asked = [];
  });
  afterEach(() => jest.useRealTimers());

  const hosts = {
    of: (machine: string | undefined) => ({
      images: {
        has: async () => {
          asked.push(machine);
          return has.get(machine) ?? false;
        },
      },
    }),
  } as unknown as MachineHosts;
  const places = () => new Places(config, {} as Machines, hosts, {} as AgentStore);
  const place = (name: string, more: Partial<SandboxPlace> = {}): SandboxPlace => ({
    id: name,
    name,
    machine: { name, kind: 'container', auto: true },
    labels: {},
    closed: null,
    draining: false,
    isAway: false,
    limit: 4,
    running: 0,
    agents: null,
    images: ['*'],
    ...more,
  });
  const server = place('this server', { id: null, machine: null, running: 1 });
  const chosen = async (its: Places, all: SandboxPlace[], image: string | null = 'node:24') =>
    (await its.choose(all, needs(image)))?.name;

  it('has the image, of those with capacity, or else is the least loaded one', async () => {
    has.set('box', true);
    const all = [server, place('a'), place('box', { running: 3 })];
    expect(await chosen(places(), all)).toBe('box');
    expect(await chosen(places(), [server, place('a'), place('box', { running: 4 })])).toBe('a');
    has.set(undefined, true);
    // This server has fewer sandboxes.
    expect(await chosen(places(), all)).toBe('this server');
    has.clear();
    expect(await chosen(places(), all)).toBe('a');
  });

  it('is not asked for where there is nothing to choose', async () => {
    has.set('box', true);
    const all = [server, place('a'), place('box', { running: 3 })];
    expect(await chosen(places(), all, null)).toBe('a');
    expect(await chosen(places(), all, config.image)).toBe('a');
    expect(await chosen(places(), [server, place('box', { running: 4 })])).toBe('this server');
    expect(asked).toEqual([]);
  });

  it('attacks: neither a failure nor silence of a machine keeps it, and silence keeps none after it', async () => {
    jest.useFakeTimers();
    const answer = Promise.withResolvers<boolean>();
    has.set('silent', answer.promise);
    has.set('broken', Promise.reject(new Error('It was asked.')));
    has.set(undefined, true);
    const all = [server, place('broken'), place('silent')];
    const its = places();
    const first = chosen(its, all);
    // Answers that came in time are read first.
    await jest.advanceTimersByTimeAsync(1_001);
    expect(await first).toBe('this server');
    expect(await chosen(its, all)).toBe('this server');
    expect(asked.filter((one) => one === 'silent')).toHaveLength(1);
    answer.resolve(true);
    await jest.advanceTimersByTimeAsync(0);
    expect(await chosen(its, all)).toBe('silent');
  });
});
