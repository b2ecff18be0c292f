import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { AppError, machineCalls, machineServerCalls } from '@belay/protocol';
import { memoryConnections, type MemoryConnections, type Servers } from '@belay/rpc';
import { until } from '@belay/testing';
import type { ContainerSpec, Seen } from '../container-host.js';
import { followHost } from '../follow-host.js';
import { NotedHost } from '../testing/noted-host.js';
import { RemoteHost } from './remote-host.js';
import { ServedHost } from './served-host.js';

type Connections = MemoryConnections<typeof machineServerCalls, typeof machineCalls>;

let noted: NotedHost;
let served: ServedHost;
let remote: RemoteHost;
let connections: Connections;
const never = new AbortController().signal;

/** Connects the host with the other end of the connections. */
async function connect(): Promise<void> {
  connections.server.serve({
    ...remote.handlers,
    'machine.hello': async () => ({ name: 'box', end: [] }),
    'agents.ended': async () => ({}),
  });
  remote.connect(connections.server);
  await until('it is connected', () => connections.server.connected);
}
beforeEach(async () => {
  noted = new NotedHost();
  served = await ServedHost.open({
    host: noted.host,
    prefix: 'mine-',
    image: 'belay/sandbox:1',
    allowedImages: ['other:*'],
    limits: { memoryMb: 512, cpus: 1 },
    server: { url: new URL('http://127.0.0.1:9'), token: 'x'.repeat(40) },
    named: () => {},
    ended: () => {},
  });
  remote = new RemoteHost({ name: 'The machine box', image: 'default:1' });
  connections = memoryConnections({ server: machineServerCalls, agent: machineCalls });
});
afterEach(async () => {
  await remote.close();
  await served.close();
  connections.reconnect();
  await Promise.all([connections.server.close(), connections.agent.close()]);
});
const serve = () => served.serve(connections.agent as never);

const spec = (id: string, more: Partial<ContainerSpec> = {}): ContainerSpec => ({
  id,
  label: id,
  labels: {},
  image: 'default:1',
  rights: 'hardened',
  limits: { memoryMb: 1, cpus: 1 },
  env: {},
  files: id,
  folders: [],
  keptFiles: [],
  placedFiles: [],
  ...more,
});

const away = (what: string) => ({
  code: 'unavailable',
  message: `The machine box ${what}`,
});

it('is away until its machine has connected, with one sentence', async () => {
  const refused = away('is not connected: run “belay join” there again.');
  await expect(remote.start(spec('a'), never)).rejects.toMatchObject(refused);
  serve();
  await connect();
  await remote.start(spec('a'), never);
  // The default image is the machine’s own.
  expect(noted.started).toMatchObject([{ id: 'a', image: 'belay/sandbox:1' }]);
  expect(await remote.images.has('default:1')).toBe(true);
  expect(noted.asked.at(-1)).toEqual(['images.has', 'belay/sandbox:1']);
});

it('fails what is under way when the connection breaks, and starts nothing twice', async () => {
  serve();
  await connect();
  const held = Promise.withResolvers<void>();
  noted.onStart = () => held.promise;
  const starting = remote.start(spec('a'), never);
  await until('it has begun', () => noted.started.length === 1);
  connections.break();
  await expect(starting).rejects.toMatchObject(away('lost its connection meanwhile.'));
  held.resolve();
  connections.reconnect();
  await until('it is back', () => connections.server.connected);
  expect(await remote.hasFiles('a')).toBe(true);
  expect(noted.started).toHaveLength(1);
});

it('ends a subscription with its connection, and reports all again', async () => {
  noted.reports = [{ id: 'a', state: 'running' }, 'synced', { id: 'a', state: 'ended' }];
  serve();
  await connect();
  const [lists, changes, breaks]: [Seen[][], Seen[], string[]] = [[], [], []];
  const closing = new AbortController();
  const following = followHost(remote, {
    signal: closing.signal,
    synced: async (found) => void lists.push([...found]),
    changed: (seen) => changes.push(seen),
    away: ({ message }) => breaks.push(message),
    back: () => {},
  });
  await until('a change', () => changes.length === 1);
  connections.break();
  await until('it is away', () => breaks.length === 1);
  connections.reconnect();
  await until('a change again', () => changes.length === 2);
  const running = [{ id: 'a', state: 'running' }];
  expect(lists).toEqual([running, running]);
  expect(changes).toEqual(Array(2).fill({ id: 'a', state: 'ended' }));
  expect(breaks).toEqual(['The machine box lost its connection meanwhile.']);
  closing.abort();
  await following;
});

it('throws the reason of the caller who cancels', async () => {
  serve();
  await connect();
  const cancelled = new AbortController();
  noted.onStart = () => new Promise(() => {});
  const starting = remote.start(spec('a'), cancelled.signal);
  await until('it has begun', () => noted.started.length === 1);
  cancelled.abort(new AppError('cancelled', 'Not any more.'));
  await expect(starting).rejects.toThrow('Not any more.');
});

describe('attacks: a machine', () => {
  /** A machine that answers what it wants. */
  const answer = async (handlers: object) => {
    connections.agent.serve(handlers as Servers<typeof machineCalls>);
    await connect();
  };
  const dial = (id: string) => {
    const socket = new PassThrough();
    const request = { headers: {} } as IncomingMessage;
    remote.dialled(id, { request, socket, head: Buffer.alloc(0) });
    return socket;
  };

  it('speaks for no container that was not started or adopted there', async () => {
    const dialled: string[] = [];
    remote.onDial((id) => dialled.push(id));
    await remote.adopt('own');
    const [foreign, own] = [dial('foreign'), dial('own')];
    expect(dialled).toEqual(['own']);
    await until('it is refused', () => foreign.writableEnded);
    expect([own.destroyed, own.writableEnded]).toEqual([false, false]);
    // No longer once it is removed.
    await remote.remove('own').catch(() => {});
    expect(own.destroyed).toBe(true);
    dial('own');
    expect(dialled).toEqual(['own']);
  });

  it('reports to no subscription but its own, and no names that are none', async () => {
    const watched = Promise.withResolvers<string>();
    await answer({
      'host.watch': async ({ watch }: { watch: string }) => {
        watched.resolve(watch);
        return new Promise(() => {});
      },
    });
    const seen: (Seen | 'synced')[] = [];
    const following = (async () => {
      for await (const one of remote.watch(never)) seen.push(one);
    })();
    const watch = await watched.promise;
    const a = { id: 'a', state: 'running' as const };
    await connections.agent.call('host.seen', { watch: 'another', seen: a });
    await connections.agent.call('host.seen', { watch, seen: a });
    await until('it is seen', () => seen.length === 1);
    for (const id of ['../a', 'a b', ''])
      await expect(
        connections.agent.call('host.seen', { watch, seen: { ...a, id } }),
      ).rejects.toMatchObject({ code: 'invalid_input' });
    expect(seen).toEqual([a]);
    connections.break();
    await expect(following).rejects.toMatchObject(away('lost its connection meanwhile.'));
  });

  it('that reports without end is away, and takes no memory for it', async () => {
    const watched = Promise.withResolvers<string>();
    await answer({
      'host.watch': ({ watch }: { watch: string }) => {
        watched.resolve(watch);
        return new Promise(() => {});
      },
    });
    const reports = remote.watch(never)[Symbol.asyncIterator]();
    const read = reports.next();
    const watch = await watched.promise;
    const report = { watch, seen: { id: 'a', state: 'running' as const } };
    const send = async (count: number) => {
      for (let sent = 0; sent < count; sent++)
        await remote.handlers['host.seen'](report, { signal: never });
    };
    await send(1_000);
    expect(await read).toEqual({ done: false, value: report.seen });
    // Nobody reads meanwhile.
    await send(10_000);
    await expect(reports.next()).rejects.toMatchObject(
      away('reports more containers than anyone can use.'),
    );
  });

  it('cannot pass off a refusal as one of the server, or write to a terminal', async () => {
    await answer({
      'host.remove': () =>
        Promise.reject(new AppError('unauthorized', 'Log in again\u001b[2J at evil.example.')),
      'host.hasFiles': () => Promise.resolve({ has: 'yes' }),
      'host.look': () => Promise.resolve({ state: 'ended', why: 'a\u001b[31mb', cause: null }),
    });
    await expect(remote.remove('a')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.not.stringContaining('\u001b') as string,
    });
    await expect(remote.hasFiles('a')).rejects.toMatchObject({ code: 'unavailable' });
    expect((await remote.look('a')).why).not.toContain('\u001b');
  });
});
