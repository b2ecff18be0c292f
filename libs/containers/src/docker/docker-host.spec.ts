import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@belay/protocol';
import type { ContainerSpec, Seen } from '../container-host.js';
import { labels } from './container-spec.js';
import type { DockerClient, FoundContainer } from './docker.client.js';
import { DockerHost } from './docker-host.js';
import type { EngineEvent } from './engine-events.js';
import type { Exit } from '../exit-reason.js';

const folder = mkdtempSync(join(tmpdir(), 'belay-host-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** An engine whose containers do nothing. */
class Engine {
  readonly containers = new Map<string, FoundContainer>();
  readonly exits = new Map<string, Exit>();
  readonly happened: Omit<EngineEvent, 'container'>[] = [];
  made = 0;
  /** Called before a container starts. */
  onStart: () => Promise<void> = async () => {};

  put(of: Record<string, string>, running = false): string {
    const id = `made-${++this.made}`;
    this.containers.set(id, { id, name: `belay-${id}`, running, labels: of });
    return id;
  }

  readonly client = {
    socket: '/nowhere/docker.sock',
    ownLabel: 'own',
    cpus: async () => 2,
    imageLabel: async () => 'yes',
    volumeLabels: async () => ({}),
    imageOf: async () => 'runtime',
    create: async ({ Labels }: { Labels?: Record<string, string> }) => this.put(Labels ?? {}),
    start: async (id: string) => {
      await this.onStart();
      const container = this.containers.get(id);
      if (container) this.containers.set(id, { ...container, running: true });
    },
    remove: async (id: string) => void this.containers.delete(id),
    list: async (label: string) => {
      const [name = '', value] = label.split('=');
      const all = [...this.containers.values()];
      return value === undefined ? all : all.filter((one) => one.labels[name] === value);
    },
    exit: async (id: string) => {
      const container = this.containers.get(id);
      return container && (this.exits.get(id) ?? (container.running ? null : undefined));
    },
    lastLines: async () => 'first\n \u001b[31mthe last one',
    events: async () => this.happened.values(),
  };
}

let engine: Engine;
let host: DockerHost;
const others = new Set<string>();
beforeEach(() => {
  engine = new Engine();
  others.clear();
  host = new DockerHost(engine.client as unknown as DockerClient, {
    image: 'sandbox',
    runtime: 'runtime',
    labels: { [labels.instance]: 'test' },
    sockets: { folder, name: 'test' },
    browser: null,
    memorySetting: 'MEMORY',
    others: async () => others,
  });
});
afterEach(() => host.close());

const never = new AbortController().signal;
const spec = (id: string): ContainerSpec => ({
  id,
  label: id,
  labels: {},
  image: 'sandbox',
  rights: 'hardened',
  limits: { memoryMb: 512, cpus: 1 },
  env: {},
  files: id,
  folders: [],
  keptFiles: [],
  placedFiles: [],
});
async function seen(): Promise<(Seen | 'synced')[]> {
  const all: (Seen | 'synced')[] = [];
  for await (const one of host.watch(never)) all.push(one);
  return all;
}

it('starts a container once, however often it is asked', async () => {
  await Promise.all([host.start(spec('a'), never), host.start(spec('a'), never)]);
  await host.start(spec('a'), never);
  expect(engine.made).toBe(1);
  await host.remove('a');
  expect(engine.containers.size).toBe(0);
});

it('tries a start that failed again, without what the first one has made', async () => {
  engine.onStart = () => Promise.reject(new AppError('disk_full', 'It is full.'));
  await expect(host.start(spec('a'), never)).rejects.toMatchObject({ code: 'disk_full' });
  expect([...engine.containers.keys()]).toEqual(['made-1']);
  engine.onStart = async () => {};
  await host.start(spec('a'), never);
  expect([...engine.containers.keys()]).toEqual(['made-2']);
  expect(await host.look('a')).toEqual({ state: 'running', why: null, cause: null });
});

it('does not start a container that is cancelled while it is made', async () => {
  const cancelled = new AbortController();
  const { create } = engine.client;
  engine.client.create = async (what) => {
    cancelled.abort(new AppError('cancelled', 'Not any more.'));
    return create(what);
  };
  await expect(host.start(spec('a'), cancelled.signal)).rejects.toThrow('Not any more.');
  expect([...engine.containers.values()].map(({ running }) => running)).toEqual([false]);
  await host.remove('a');
  expect(engine.containers.size).toBe(0);
});

it('reports what there is and what changes, and removes what an earlier process left', async () => {
  const running = engine.put({ [labels.sandbox]: 'a' }, true);
  const ended = engine.put({ [labels.sandbox]: 'b' });
  const beside = engine.put({ [labels.sidecar]: 'a' });
  engine.put({ [labels.sidecar]: 'nobody' });
  engine.put({});
  engine.happened.push(
    { action: 'die', labels: { [labels.sidecar]: 'a' } },
    { action: 'start', labels: { [labels.sandbox]: 'a' } },
    { action: 'die', labels: { [labels.sandbox]: 'a' } },
    { action: 'destroy', labels: { [labels.sandbox]: 'a' } },
  );
  expect(await seen()).toEqual([
    { id: 'a', state: 'running', label: running },
    { id: 'b', state: 'ended' },
    'synced',
    { id: 'a', state: 'ended' },
    { id: 'a', state: 'gone' },
  ]);
  expect([...engine.containers.keys()]).toEqual([running, ended, beside]);
});

it('leaves what another server is making that is alive', async () => {
  others.add('alive');
  const kept = ['alive', 'dead'].map((server) => {
    const of = { [labels.server]: server };
    const sandbox = engine.put({ ...of, [labels.sandbox]: server }, true);
    return [sandbox, engine.put({ ...of, [labels.sidecar]: 'starts' }), engine.put(of)];
  });
  const ids = [...engine.containers.values()].filter((one) => one.labels[labels.sandbox]);
  expect(await seen()).toEqual([
    ...ids.map(({ id, labels: of }) => {
      const server = of[labels.server];
      return { id: server, state: 'running', label: id, server };
    }),
    'synced',
  ]);
  expect([...engine.containers.keys()]).toEqual([...(kept[0] ?? []), kept[1]?.[0]]);
});

it('leaves what a start is making alone', async () => {
  const owner = engine.put({});
  const starting = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  engine.onStart = () => {
    starting.resolve();
    return started.promise;
  };
  const start = host.start(spec('a'), never);
  await starting.promise;
  expect(await seen()).toEqual([{ id: 'a', state: 'waiting' }, 'synced']);
  expect(engine.containers.has(owner)).toBe(true);
  started.resolve();
  await start;
  expect(await seen()).toEqual([{ id: 'a', state: 'running', label: 'made-2' }, 'synced']);
  expect(engine.containers.has(owner)).toBe(false);
});

it('tells why a container does not run, and shows what its last line hides', async () => {
  await host.start(spec('a'), never);
  engine.exits.set('made-1', { code: 3, outOfMemory: false, error: '', memoryMb: 512 });
  const { state, why } = await host.look('a');
  expect(state).toBe('ended');
  expect(why).toMatch(/exit code 3\. Its last line: .*the last one$/);
  expect(why).not.toContain('\u001b');
  engine.exits.set('made-1', { code: 137, outOfMemory: true, error: '', memoryMb: 512 });
  const killed = await host.look('a');
  expect(killed.why).toMatch(/out of its 512 MB .* increase MEMORY\./);
  expect(killed.cause).toBe('memory');
  expect(await host.look('nobody')).toEqual({
    state: 'gone',
    why: 'The sandbox’s container was removed.',
    cause: null,
  });
});
