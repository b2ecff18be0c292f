import { hostCalls, machineServerCalls } from '@belay/protocol';
import { memoryConnections, type CallInput, type RpcConnection } from '@belay/rpc';
import { until } from '@belay/testing';
import { NotedHost } from '../testing/noted-host.js';
import { ServedHost } from './served-host.js';

let noted: NotedHost;
let served: ServedHost;
/** The server, which is hostile. */
let server: RpcConnection<typeof machineServerCalls, typeof hostCalls>;
beforeEach(async () => {
  noted = new NotedHost();
  served = await ServedHost.open({
    host: noted.host,
    prefix: 'mine-',
    image: 'belay/sandbox:1',
    allowedImages: ['node:*', 'ghcr.io/us/*'],
    limits: { memoryMb: 512, cpus: 1 },
    server: { url: new URL('http://127.0.0.1:9'), token: 'x'.repeat(40) },
    named: () => {},
    ended: () => {},
  });
  const connections = memoryConnections({ server: machineServerCalls, agent: hostCalls });
  server = connections.server;
  served.serve(connections.agent);
});
afterEach(() => served.close());

type Start = CallInput<typeof hostCalls, 'host.start'>;
const start = (more: object = {}): Promise<object> =>
  server.call('host.start', {
    id: 'a',
    label: 'a',
    labels: {},
    image: null,
    rights: 'hardened',
    env: {},
    files: 'a',
    keptFiles: [],
    placedFiles: [],
    ...(more as Partial<Start>),
  });
const program = (more: object = {}): Promise<object> =>
  server.call('host.startProgram', {
    id: 'p',
    label: 'p',
    labels: {},
    image: null,
    rights: 'program',
    user: 1000,
    limits: { memoryMb: 64, cpus: 0.5 },
    scratch: [],
    workspace: null,
    services: [],
    archive: null,
    writtenMb: 1,
    ...more,
  });

it('starts what is asked for, with the limits, the image and the names of this machine', async () => {
  await start({ labels: { 'belay.session': 's' } });
  await start({ id: 'b', image: 'node:24' });
  expect(noted.started).toMatchObject([
    {
      id: 'a',
      labels: { 'belay.session': 's' },
      image: 'belay/sandbox:1',
      limits: { memoryMb: 512, cpus: 1 },
      files: 'mine-a',
      folders: [],
    },
    { id: 'b', image: 'node:24' },
  ]);
  await program();
  expect(noted.programs).toMatchObject([{ limits: { memoryMb: 64, cpus: 0.5 }, folders: [] }]);
});

it('attacks: no image is used or pulled that this machine does not allow', async () => {
  const refused = { code: 'forbidden', message: expect.stringContaining('--allow-image') };
  const service = { name: 'db', env: {}, limits: { memoryMb: 1, cpus: 1 } };
  for (const image of ['secret/app:1', 'evil.example/node:24', 'ghcr.io/them/x', 'nodes:1']) {
    await expect(start({ image })).rejects.toMatchObject(refused);
    await expect(program({ image })).rejects.toMatchObject(refused);
    await expect(program({ services: [{ ...service, image }] })).rejects.toMatchObject(refused);
    await expect(server.call('host.fetchImage', { image })).rejects.toMatchObject(refused);
    await expect(server.call('host.firstPath', { image, paths: ['/'] })).rejects.toMatchObject(
      refused,
    );
    // Not even whether it is there.
    expect(await server.call('host.imageId', { image })).toEqual({ id: null });
    expect(await server.call('host.hasImage', { image })).toEqual({ has: false });
  }
  expect([noted.started, noted.programs, noted.asked]).toEqual([[], [], []]);
  expect(await server.call('host.imageId', { image: 'node:24' })).toEqual({ id: 'sha256:1' });
  expect(await server.call('host.hasImage', { image: 'node:24' })).toEqual({ has: true });
});

it('attacks: no container gets labels, names or folders of others', async () => {
  const invalid = { code: 'invalid_input' };
  const labels = ['belay.instance', 'belay.sandbox', 'belay.sidecar', 'com.example'];
  for (const label of labels)
    await expect(start({ labels: { [label]: 'other' } })).rejects.toMatchObject(invalid);
  for (const name of ['../x', '/x', 'a=b', 'a,b', '*', ''])
    for (const more of [{ id: name }, { files: name }])
      await expect(start(more)).rejects.toMatchObject(invalid);
  expect(noted.started).toEqual([]);
  await start({ folders: [{ folder: '/home', path: '/mnt/home', readOnly: true }] });
  await program({ workspace: { files: 'theirs', readOnly: false }, folders: [{ folder: '/' }] });
  expect(noted.started.map(({ folders }) => folders)).toEqual([[]]);
  expect(noted.programs).toMatchObject([{ workspace: { files: 'mine-theirs' }, folders: [] }]);
});

it('attacks: no container gets more than the machine allows', async () => {
  const limits = { memoryMb: 1_000_000, cpus: 1_000 };
  await start({ limits });
  const services = [{ name: 'db', image: 'node:24', env: {}, limits }];
  await program({ limits, services, scratch: [{ path: '/tmp', mb: 1_000_000 }] });
  const most = { memoryMb: 512, cpus: 1 };
  expect(noted.started).toMatchObject([{ limits: most }]);
  expect(noted.programs).toMatchObject([
    { limits: most, services: [{ limits: most }], scratch: [{ mb: 512 }] },
  ]);
});

it('attacks: no files of others are seen or removed', async () => {
  noted.stored = ['mine-a', 'other-b', 'mine'];
  expect(await server.call('host.storedFiles', {})).toEqual({ files: ['a'] });
  await server.call('host.removeFiles', { files: 'other-b' });
  await server.call('host.removeKeptFiles', { name: 'other-b' });
  await server.call('host.keepOnlyFiles', { names: ['other-b'] });
  expect(noted.asked).toEqual([
    ['removeFiles', 'mine-other-b'],
    ['keptFiles.remove', 'mine-other-b-kept'],
    ['keptFiles.keepOnly', ['mine-other-b-kept']],
  ]);
});

it('attacks: a server that calls what bare machines serve, or anything else, gets nothing', async () => {
  const call = server.call.bind(server) as (name: string, input: object) => Promise<unknown>;
  for (const name of ['agents.start', 'files.remove', 'host.exec', 'constructor'])
    await expect(call(name, {})).rejects.toMatchObject({ code: 'not_found' });
});

it('admits the dials of what it finds running, and ends all when it is told', async () => {
  noted.reports = [
    { id: 'x', state: 'running', label: 'of-x' },
    { id: 'y', state: 'ended' },
    'synced',
  ];
  const next = await ServedHost.open({
    host: noted.host,
    prefix: 'mine-',
    image: 'belay/sandbox:1',
    allowedImages: [],
    limits: { memoryMb: 512, cpus: 1 },
    server: { url: new URL('http://127.0.0.1:9'), token: 'x'.repeat(40) },
    named: () => {},
    ended: () => {},
  });
  expect([next.running, next.labels]).toEqual([['x'], ['of-x']]);
  expect(noted.asked).toEqual([['adopt', 'x']]);
  await next.end();
  await until('it is closed', () => noted.asked.length === 3);
  expect(noted.asked.slice(1)).toEqual([['remove', 'x'], ['close']]);
});
